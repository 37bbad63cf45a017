import { now, span } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';
import { PatchOnDemand } from '../parts/patch-on-demand.js';
import { patchOf, versionText } from './patch-of.js';

/** The versions of a workflow, newest first; each opens what it changed in the one before. */
export function Versions({ id, newest }: { readonly id: string; readonly newest: number }) {
  const loaded = useLoaded(`versions/${id}/${newest}`, (signal) =>
    must(client.get('/api/workflow-definitions/{id}/versions', { params: { path: { id } }, signal })),
  );
  return (
    <section class="panel changes" aria-labelledby="versions-title">
      <h2 id="versions-title">Versions</h2>
      <Answered loaded={loaded}>
        {({ versions }) => (
          <ul class="files">
            {versions.map(({ version, updatedAt, title, status }) => (
              <li key={version} data-version={version}>
                <PatchOnDemand
                  label={`what version ${version} changed`}
                  opened={version === newest && version > 1}
                  read={(signal) => changesOf(id, version, signal)}
                >
                  <b class="num">{version}</b>
                  <span class="title clip">{title}</span>
                  {status !== 'active' && <span class="soft">{status}</span>}
                  <span class="soft num end">{span(now.value - Date.parse(updatedAt))} ago</span>
                </PatchOnDemand>
              </li>
            ))}
          </ul>
        )}
      </Answered>
    </section>
  );
}

async function changesOf(id: string, version: number, signal: AbortSignal): Promise<string> {
  const after = versionText(id, version, signal);
  if (version === 1) return await after;
  const patch = patchOf(await versionText(id, version - 1, signal), await after);
  return patch === '' ? 'Nothing but its stamps.' : patch;
}
