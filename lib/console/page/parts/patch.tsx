import type { Answer } from '../../../client/index.js';

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

export type ImportReport = Answer<'/api/import', 'post'>;

/** What an import would write, file by file, line by line. */
export const ImportPreview = ({ report }: { readonly report: ImportReport }) => (
  <ul class="changes previewed">
    {report.entries.map(({ name, change, diff }) => (
      <li key={name} data-entry={name}>
        <p>
          <b class={`state ${change === 'create' ? 'done' : change === 'change' ? 'wait' : 'rest'}`}>
            {{ create: 'new', change: 'changes', same: 'the same' }[change]}
          </b>{' '}
          <code>{name}</code>
        </p>
        {diff.length > 0 && change !== 'same' && (
          <pre tabIndex={0} role="group" aria-label={`What changes in ${name}`}>
            <Patch text={diff.join('\n')} />
          </pre>
        )}
      </li>
    ))}
  </ul>
);
