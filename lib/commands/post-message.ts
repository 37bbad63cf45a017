import { asked, type Asking, type Desk, type Done } from './desk.js';
import type { Agent } from './kinship.js';
import type { Turns } from '../supervisor/contract.js';
import type { Json } from '../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/**
 * Hand a message to a session. Durable before the answer; answered by a turn, or shown as interrupted, never lost.
 * Agents talk under three rules that keep a company of them from talking for ever: not to oneself, ten messages in
 * ten minutes, and no message that is the thirteenth relay of another.
 */
export async function postMessage(desk: Desk, sessionId: string, content: string, asking: Asking): Promise<Done<{ sessionId: string }> | Refusal> {
  const message = { id: desk.supervisor.world.id(), content };
  return asking.by.type === 'session'
    ? postAsAgent(desk, asking.by, sessionId, message, asking)
    : postAsPerson(desk, sessionId, message, asking);
}

async function postAsPerson(desk: Desk, sessionId: string, message: { id: string; content: string }, asking: Asking): Promise<Done<{ sessionId: string }> | Refusal> {
  const event = { type: 'message.post', message: { ...message, role: 'user', kind: 'user' } };
  const view = await desk.supervisor.ask('session', sessionId, event, asked(asking));
  if (isRefusal(view)) return view;
  return { value: { sessionId }, replayed: view.replayed === true, steps: view.steps ?? [] };
}

/** Both sessions' turns are taken: the sender's guards its own count against a parallel message. */
async function postAsAgent(desk: Desk, agent: Agent, sessionId: string, message: { id: string; content: string }, asking: Asking): Promise<Done<{ sessionId: string }> | Refusal> {
  if (agent.id === sessionId) return refuse('SELF_MESSAGE', {}, 'cannot message your own session');
  const committed = await desk.supervisor.transact<{ sessionId: string }>({
    name: 'post-message',
    actors: [{ kind: 'session', id: agent.id }, { kind: 'session', id: sessionId }],
    ...asked(asking),
    decide(turns) {
      const hops = countRelay(turns, agent.id, sessionId);
      if (isRefusal(hops)) return hops;
      const meta = { kind: 'agent-relay', from: agent.id, employee: agent.employee, hops };
      turns.send({ kind: 'session', id: sessionId }, { type: 'message.post', message: { ...message, role: 'notification', kind: 'agent', meta } });
      return { sessionId };
    },
  });
  if (isRefusal(committed)) return committed;
  return { value: committed.result, replayed: committed.replayed, steps: committed.steps };
}

/** What a session's relays looked like lately: when it sent, and how many relays lie behind what it last received. */
interface Relays { readonly sent: readonly number[]; readonly hops: number; readonly hopsAt: number }

/** Count one message from `from` to `to`; the number of relays that it carries, or the refusal. */
function countRelay(turns: Turns, from: string, to: string): number | Refusal {
  const sender = relaysOf(turns, from);
  const sent = sender.sent.filter((at) => turns.at - at < windowMs);
  const oldest = sent[0];
  if (sent.length >= sentMax && oldest !== undefined) {
    return refuse('TOO_MANY', { resetAt: oldest + windowMs }, `An agent may send ${sentMax} messages per 10 minutes.`);
  }
  const hops = (turns.at - sender.hopsAt < hopsTtlMs ? sender.hops : 0) + 1;
  if (hops > hopsMax) {
    return refuse('TOO_MANY', { resetAt: sender.hopsAt + hopsTtlMs }, `This message would be relay ${hops} of a chain; at most ${hopsMax} are passed on.`);
  }
  turns.put(relayKey(from), row({ ...sender, sent: [...sent, turns.at] }));
  turns.put(relayKey(to), row({ ...relaysOf(turns, to), hops, hopsAt: turns.at }));
  return hops;
}

function relaysOf(turns: Turns, sessionId: string): Relays {
  const stored = turns.peek(relayKey(sessionId)) as Partial<Relays> | null | undefined;
  return { sent: stored?.sent ?? [], hops: stored?.hops ?? 0, hopsAt: stored?.hopsAt ?? 0 };
}

const row = (relays: Relays): Json => ({ sent: relays.sent, hops: relays.hops, hopsAt: relays.hopsAt });
const relayKey = (sessionId: string): string => `relay/${sessionId}`;
const sentMax = 10;
const windowMs = 600_000;
const hopsMax = 12;
const hopsTtlMs = 1_800_000;
