/** A patch, line by line: what comes and what goes is coloured. */
export const Patch = ({ text }: { readonly text: string }) => (
  <>
    {text.split('\n').map((line, n) => (
      <span
        key={n}
        class={/^\+(?!\+\+)/.test(line) ? 'added' : /^-(?!--)/.test(line) ? 'removed' : undefined}
      >
        {line}
        {'\n'}
      </span>
    ))}
  </>
);
