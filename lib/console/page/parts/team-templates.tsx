import { useSignal } from '@preact/signals';
import { useAction } from '../../../page/action.js';
import { client, must } from '../../../page/gateway.js';
import { useLoaded } from '../live.js';
import { ImportPreview, type ImportReport } from './patch.js';

/** Teams that can be added by name: what one would write is shown before it is written. */
export function TeamTemplates() {
  const loaded = useLoaded('templates', () => must(client.get('/api/templates')));
  const chosen = useSignal<{ readonly name: string; readonly report: ImportReport } | undefined>(undefined);
  const { message, busy, attempt } = useAction();
  const preview = (name: string): void =>
    void attempt(async () => {
      const report = await must(
        client.post('/api/templates/{name}', { params: { path: { name } }, body: {} }),
      );
      chosen.value = { name, report };
    });
  const add = (name: string, { sha256, entries }: ImportReport): void =>
    void attempt(async () => {
      await must(
        client.post('/api/templates/{name}', {
          params: { path: { name } },
          body: { apply: true, sha256, replace: entries.some(({ change }) => change === 'change') },
        }),
      );
      chosen.value = undefined;
      return 'Added: the team is employed.';
    });
  const one = chosen.value;
  return (
    <div class="templates">
      <ul class="rows">
        {loaded.value.value?.templates.map(({ name, title, employees }) => (
          <li key={name}>
            <span class="title">{title}</span>
            <span class="soft small clip">{employees.join(', ')}</span>
            <button
              type="button"
              class="quiet end"
              disabled={busy}
              aria-label={`Show ${title}`}
              onClick={() => preview(name)}
            >
              Show
            </button>
          </li>
        ))}
      </ul>
      <p class="small soft" role="status" data-template>
        {loaded.value.error ?? message}
      </p>
      {one !== undefined && (
        <section class="panel" aria-label={one.report.title}>
          <h3>{one.report.title}</h3>
          <p class="ways">
            <button type="button" class="primary" disabled={busy} onClick={() => add(one.name, one.report)}>
              Add this team
            </button>
            <button
              type="button"
              class="quiet"
              onClick={() => {
                chosen.value = undefined;
              }}
            >
              Close
            </button>
          </p>
          <ImportPreview report={one.report} />
        </section>
      )}
    </div>
  );
}
