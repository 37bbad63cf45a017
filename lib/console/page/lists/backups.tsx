import { useSignal } from '@preact/signals';
import { useAction } from '../../../page/action.js';
import { mebibytes, whole } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';

/** Copies of the whole instance: where those by schedule go, and one now. */
export function Backups({ settings }: { readonly settings: Readonly<Record<string, unknown>> }) {
  const folder = useSignal('');
  const { message, busy, attempt } = useAction();
  const { to, everyHours, keep, encrypt } = settings;
  const isScheduled = typeof to === 'string';
  const backUp = (): void =>
    void attempt(async () => {
      const body = isScheduled ? {} : { target: folder.value.trim() };
      const { target, files, bytes } = await must(client.post('/api/backup', { body }));
      return `Backed up to ${target}: ${whole(files)} files, ${mebibytes(bytes)}.`;
    }, 'Copying …');
  return (
    <section class="panel" aria-labelledby="backups-title">
      <h2 id="backups-title">Backups</h2>
      {isScheduled ? (
        <p>
          Every {String(everyHours)} hours to <code>{to}</code>; the newest {String(keep)} are kept
          {encrypt === true && ', encrypted'}.
        </p>
      ) : (
        <p class="soft">
          None are made by schedule: <code>backup.to</code> in config.yaml names a folder or a bucket. See{' '}
          <a href="/docs/operations">operations</a>.
        </p>
      )}
      <form
        class="ways"
        onSubmit={(event) => {
          event.preventDefault();
          backUp();
        }}
      >
        {!isScheduled && (
          <input
            type="text"
            aria-label="Folder for a backup, on the gateway's machine"
            placeholder="/a/new/folder"
            value={folder.value}
            maxLength={4_096}
            autocomplete="off"
            onInput={(event) => {
              folder.value = event.currentTarget.value;
            }}
          />
        )}
        <button type="submit" disabled={busy || (!isScheduled && !folder.value.trim().startsWith('/'))}>
          Back up now
        </button>
        <span class="small soft" role="status" data-backup>
          {message}
        </span>
      </form>
    </section>
  );
}
