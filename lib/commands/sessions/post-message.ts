import type { GatewayTransaction } from '../app.js';
import { optionsOf, askActor, replyWith, type Request, type Reply, inTurn } from '../request.js';
import type { Media } from '../files.js';
import { ancestorsOf, type Agent } from '../relation.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';

/**
 * Hand a message to a session. Durable before the answer; answered by a turn, or shown as interrupted, never
 * lost. Agents talk under three rules that keep a company of them from talking for ever: not to oneself, ten
 * messages in ten minutes, and no message that is the thirteenth relay of another.
 */
export async function postMessage(
  request: Request,
  sessionId: string,
  content: string,
  media: readonly Media[] = [],
): Promise<Reply<{ sessionId: string }> | Refusal> {
  const message: Posted = {
    id: request.app.supervisor.environment.ids.next(),
    content,
    ...(media.length > 0 && { media }),
  };
  return request.caller.type === 'session'
    ? postAsAgent(request, request.caller, sessionId, message)
    : postAsPerson(request, sessionId, message);
}

interface Posted {
  readonly id: string;
  readonly content: string;
  readonly media?: readonly Media[];
}

async function postAsPerson(
  request: Request,
  sessionId: string,
  message: Posted,
): Promise<Reply<{ sessionId: string }> | Refusal> {
  const done = await askActor(request, 'session', sessionId, {
    type: 'message.post',
    message: { ...message, role: 'user', kind: 'user' },
  });
  return isRefusal(done) ? done : { ...done, body: { sessionId } };
}

/** One sender's messages go one after the other: no actor's turn guards their count. */
function postAsAgent(
  request: Request,
  agent: Agent,
  sessionId: string,
  message: Posted,
): Promise<Reply<{ sessionId: string }> | Refusal> {
  const keys: RelayKeys = {
    sent: `relay/sent/${agent.id}`,
    heard: `relay/heard/${agent.id}`,
    receiverHeard: `relay/heard/${sessionId}`,
  };
  return inTurn(request.app.supervisor, keys.sent, async () => {
    if (agent.id === sessionId) return refuse('SELF_MESSAGE', {}, 'cannot message your own session');
    const committed = await request.app.supervisor.transact<{ sessionId: string }>({
      name: 'post-message',
      actors: [{ kind: 'session', id: sessionId }],
      reads: [keys.sent, keys.heard],
      ...optionsOf(request),
      run(turns) {
        const hops = countRelay(turns, keys);
        if (isRefusal(hops)) return hops;
        const meta = { kind: 'agent-relay', from: agent.id, employee: agent.employee, hops };
        const target = { kind: 'session', id: sessionId } as const;
        const session = turns.read(target);
        if (!session) return refuse('NOT_FOUND', target);
        // Only people and ancestors interrupt a running turn
        const kind = ancestorsOf(session).includes(agent.id) ? 'user' : 'agent';
        turns.send(target, {
          type: 'message.post',
          message: { ...message, role: 'notification', kind, meta },
        });
        return { sessionId };
      },
    });
    return isRefusal(committed) ? committed : replyWith(committed, committed.result);
  });
}

/**
 * Rows: when the sender sent lately; how many relays lie behind what sender and receiver last heard from
 * another agent.
 */
interface RelayKeys {
  readonly sent: string;
  readonly heard: string;
  readonly receiverHeard: string;
}

/** Count one message; the number of relays that it carries, or the refusal. */
function countRelay(turns: GatewayTransaction, keys: RelayKeys): number | Refusal {
  const sent = ((turns.get(keys.sent) ?? []) as readonly number[]).filter((at) => turns.at - at < windowMs);
  const oldest = sent[0];
  if (sent.length >= sentMax && oldest !== undefined) {
    return refuse(
      'TOO_MANY',
      { resetAt: oldest + windowMs },
      `An agent may send ${sentMax} messages per 10 minutes.`,
    );
  }
  const heard = turns.get(keys.heard) as { hops: number; at: number } | null | undefined;
  const fresh = heard && turns.at - heard.at < hopsTtlMs ? heard : undefined;
  const hops = (fresh?.hops ?? 0) + 1;
  if (hops > hopsMax && fresh) {
    return refuse(
      'TOO_MANY',
      { resetAt: fresh.at + hopsTtlMs },
      `This message would be relay ${hops} of a chain; at most ${hopsMax} are allowed.`,
    );
  }
  turns.put(keys.sent, [...sent, turns.at]);
  turns.put(keys.receiverHeard, { hops, at: turns.at });
  return hops;
}

const sentMax = 10;
const windowMs = 600_000;
const hopsMax = 12;
const hopsTtlMs = 1_800_000;
