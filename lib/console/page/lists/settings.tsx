import { useAction } from '../../../page/action.js';
import { dateAndTime, withUtc } from '../../../page/clock.js';
import { Tree } from '../../../page/parts/tree.js';
import type { Json } from '../../../../machines/outputs.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { Answered, Fault } from '../parts/answered.js';
import { RefreshEngines } from '../parts/refresh-engines.js';
import { later } from '../../../page/parts/later.js';
import { Backups } from './backups.js';
import { Tokens } from './tokens.js';
import { WorkersPanel } from './workers.js';

/** Engines, workers, devices, tokens, backups, and config.yaml as it is in force. */
export function Settings() {
  const engines = useLoaded('engines', () => must(client.get('/api/engines')), {
    touches: named(/^engines:/),
  });
  const config = useLoaded('config', () => must(client.get('/api/config')), { touches: named(/^config:/) });
  const instances = useLoaded('instances', () => must(client.get('/api/instances')));
  return (
    <>
      <section class="panel" aria-labelledby="engines-title">
        <h2 id="engines-title">
          Engines <RefreshEngines />
        </h2>
        <Answered loaded={engines}>
          {(answer) => (
            <ul class="rows">
              {Object.values(answer.engines as Readonly<Record<string, Engine>>).map((engine) => (
                <li key={engine.name} class="engine">
                  <b class={`state ${engine.available ? 'done' : 'rest'}`}>
                    {engine.available ? 'found' : 'missing'}
                  </b>
                  <span class="title">{engine.name}</span>
                  {engine.name === answer.default && <span class="soft small">default</span>}
                  <span class="soft small wide">
                    {engine.available
                      ? `model ${engine.defaultModel ?? 'of its own choice'}`
                      : [engine.reason, engine.remedy].filter(Boolean).join(' ')}
                  </span>
                </li>
              ))}
            </ul>
          )}
        </Answered>
      </section>
      <WorkersPanel />
      <Devices />
      <Tokens />
      <PushPanel />
      <Backups settings={(config.value.value?.['backup'] ?? {}) as Readonly<Record<string, unknown>>} />
      <section class="panel" aria-labelledby="config-title">
        <h2 id="config-title">
          config.yaml <span class="soft">as it is in force; secrets are left out</span>
        </h2>
        <Answered loaded={config}>
          {(value) => <Tree value={inForce(value as Settled, instances.value.value?.[0])} label="Settings" />}
        </Answered>
      </section>
    </>
  );
}

type Settled = Readonly<Record<string, Json>>;

/** What was given when the gateway was started holds, whatever the file says: both are said where they differ. */
function inForce(config: Settled, instance: Settled | undefined): Json {
  const gateway = config['gateway'] as Settled | undefined;
  if (gateway === undefined || instance === undefined) return config;
  const both = (name: 'host' | 'port'): Json =>
    instance[name] === gateway[name]
      ? (gateway[name] ?? null)
      : `in force: ${String(instance[name])} (config.yaml says ${String(gateway[name])})`;
  return { ...config, gateway: { ...gateway, host: both('host'), port: both('port') } };
}

const PushPanel = later(() => import('./push-panel.js').then((part) => part.PushPanel));

interface Engine {
  readonly name: string;
  readonly available: boolean;
  readonly defaultModel?: string | null;
  readonly reason?: string;
  readonly remedy?: string;
}

function Devices() {
  const devices = useLoaded('devices', () => must(client.get('/api/auth/devices')), {
    touches: named(/^device:/),
  });
  const { message, busy, attempt } = useAction();
  return (
    <section class="panel" aria-labelledby="devices-title">
      <h2 id="devices-title">Paired devices</h2>
      <Fault message={message} />
      <Answered loaded={devices}>
        {(answer) =>
          answer.devices.length === 0 ? (
            <p class="empty">
              None. On the gateway's machine, <code>troupe pair</code> shows a code for a phone.
            </p>
          ) : (
            <ul class="rows">
              {answer.devices.map((device) => (
                <li key={device.id}>
                  <span class="title clip">{device.name}</span>
                  {device.current && <b class="state done">this one</b>}
                  <span class="soft small" title={withUtc(Date.parse(device.lastSeenAt))}>
                    last seen {dateAndTime(Date.parse(device.lastSeenAt))}
                  </span>
                  <button
                    type="button"
                    class="quiet end"
                    disabled={busy}
                    aria-label={`Revoke ${device.name}`}
                    onClick={() =>
                      void attempt(() =>
                        must(
                          client.delete('/api/auth/devices/{id}', { params: { path: { id: device.id } } }),
                        ),
                      )
                    }
                  >
                    Revoke
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </section>
  );
}
