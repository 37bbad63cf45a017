/** What has turned text into something else elsewhere: markup, handlers, addresses that run, terminals' own words. */
export const hostileWords: readonly string[] = [
  '<img src=x onerror="window.struck=1">',
  '<script>window.struck=1</script>',
  '<svg/onload=window.struck=1>',
  '"><iframe srcdoc="<script>parent.struck=1</script>">',
  '[click](javascript:window.struck=1)',
  '[click](data:text/html,<script>window.struck=1</script>)',
  '[click](\u0001java\tscript:window.struck=1)',
  '![x](x"onerror="window.struck=1)',
  '<javascript:window.struck=1>',
  '<a href="javascript:window.struck=1">x</a>',
  '`<img src=x onerror=window.struck=1>`',
  '</textarea></title></style><script>window.struck=1</script>',
  '&lt;img src=x onerror=window.struck=1&gt;',
  '\u001b]8;;javascript:window.struck=1\u0007\u001b[31m<b onclick=window.struck=1>red</b>\u001b[0m',
  '\u202e<math href=javascript:window.struck=1>',
  '```html\n<img src=x onerror=window.struck=1>\n```',
];

/** Elements that no page of ours has, and addresses that are no places: what a word has become that was taken for markup. */
export const foundMarkup = `[...document.querySelectorAll('*')].flatMap((one) => {
  const handlers = one.getAttributeNames().filter((name) => name.startsWith('on'));
  const runs = ['href', 'src', 'action', 'formaction', 'xlink:href'].filter((name) =>
    /^[\\s\\u0000-\\u001f]*(?:javascript|data|vbscript):/i.test((one.getAttribute(name) ?? '').replace(/[\\t\\n\\r]/g, '')));
  const isForeign = one.closest('body') !== null && one.matches('script:not([src^="/"]), iframe, object, embed, math, style, img[src="x"], b[onclick]');
  return handlers.length + runs.length > 0 || isForeign ? [one.outerHTML.slice(0, 200)] : [];
})`;
