import { WebSocket } from 'ws';
import type { Announcement } from '../home/announce.js';
import type { InspectFrame } from '../inspector/frames.js';
import { CommandError, exitCodes } from './failure.js';

/** `/ws/inspect` of a running gateway, for commands: frames as they come, and why it ended. */
export interface InspectFeed {
  /** Resolves with the close code. */
  readonly ended: Promise<number>;
  close(): void;
}

export function openInspectFeed(
  announcement: Announcement,
  query: Readonly<Record<string, string>>,
  onFrame: (frame: InspectFrame) => void,
): Promise<InspectFeed> {
  const address = new URL('/ws/inspect', announcement.url.replace(/^http/, 'ws'));
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  const socket = new WebSocket(address, {
    headers: { authorization: `Bearer ${announcement.token}` },
    handshakeTimeout: 10_000,
  });
  socket.on('message', (data) => onFrame(JSON.parse(String(data)) as InspectFrame));
  return new Promise((resolve, reject) => {
    const ended = new Promise<number>((settle) => socket.once('close', settle));
    socket.once('open', () => resolve({ ended, close: () => socket.close() }));
    socket.on('error', (cause) =>
      reject(
        new CommandError(
          exitCodes.notRunning,
          `The inspector's feed of ${announcement.url} cannot be opened (${cause.message}).`,
          { cause },
        ),
      ),
    );
  });
}
