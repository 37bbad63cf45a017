import { authorityOf } from '../../../machines/caller.js';
import type { SnapshotFrom } from 'xstate';
import { fileMachine, filePolicy, type FileEvent } from '../../../machines/file/machine.js';
import { Life } from '../step.js';

/** Files for specs. */
export const fresh = () =>
  new Life(
    fileMachine,
    {
      id: 'f1',
      filename: 'a.txt',
      size: 3,
      mimetype: 'text/plain',
      path: 'files/f1/a.txt',
      sha256: 'abc',
      sessionId: null,
    },
    (_: SnapshotFrom<typeof fileMachine>, event: FileEvent) => filePolicy(event, authorityOf(event)),
  );
