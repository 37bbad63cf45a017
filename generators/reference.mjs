// The reference of what is exported, as Markdown, from the models that api-extractor writes of each entry.

/** `entries`: `[name, model]` in the order of package.json. */
export const referenceOf = (entries) =>
  entries
    .map(
      ([
        name,
        {
          members: [{ members }],
        },
      ]) => `## ${name}\n\n${members.map(itemOf).join('\n')}`,
    )
    .join('\n')
    .trim();

function itemOf(item) {
  const { about, examples } = commentOf(item);
  const parts = [`### ${item.name}\n`, ...(about === '' ? [] : [`${about}\n`]), fence(declarationOf(item))];
  for (const example of examples) parts.push(`Example:\n\n${fence(example)}`);
  return parts.join('\n');
}

/** As TypeScript, with a sentence before each member that has one. Long ones end in `…`: the compiler knows the rest. */
function declarationOf({ kind, name, members = [], ...item }) {
  if (elided.has(name)) return `${wordsOf(item)} { … }`;
  if (kind !== 'Interface' && kind !== 'Class') return cut(wordsOf(item));
  const lines = members.flatMap((member) => {
    const { about } = commentOf(member);
    const words = wordsOf(member).replaceAll('\n', '\n  ');
    return [...(about === '' ? [] : [`  // ${about.replaceAll('\n', '\n  // ')}`]), `  ${cut(words)}`];
  });
  return [`${wordsOf(item)} {`, ...lines, '}'].join('\n');
}

/** Made from the OpenAPI document, and shown in the guide to the HTTP API. */
const elided = new Set(['components', 'paths']);

const wordsOf = ({ excerptTokens = [] }) =>
  excerptTokens
    .map(({ text }) => text)
    .join('')
    .replace(/^export (?:declare )?/, '')
    .replace(/;$/, '')
    .trim();

function cut(text) {
  const lines = text.split('\n').map((line) => (line.length > 400 ? `${line.slice(0, 400)} …` : line));
  return lines.length > 44 ? [...lines.slice(0, 44), '…'].join('\n') : lines.join('\n');
}

/** A docstring without its stars, and what follows each `@example`. */
function commentOf({ docComment = '' }) {
  const text = docComment
    .replace(/^\/\*\*\s?|\s*\*\/\s*$/g, '')
    .replace(/^ *\* ?/gm, '')
    .replace(/^@throws\s+(\w+Error)?\s*/gm, 'Throws a $1 ')
    .replace(/^Constructs a new instance of.*$/gm, '')
    .trim();
  const [about = '', ...examples] = text.split(/^@example\s+|\s@example\s+/m);
  return {
    about: about.replace(/(?<!\n)\n(?!\n|[-*\d|])/g, ' ').trim(),
    examples: examples.map((example) => example.trim()),
  };
}

const fence = (code) => `\`\`\`text\n${code}\n\`\`\`\n`;
