import {
  defineConnector,
  type Connector,
  type ConnectorLink,
  type DeliveryResult,
  type Inbox,
} from '../../../actors/connectors/connector.js';

export const pigeon = 'pigeon';

/** What was written on the far side, until the gateway has said that it is kept. */
interface Letter {
  readonly id: string;
  readonly text: string;
  readonly channel: string;
  isHeard: boolean;
  /** Keys are kept for a day; so long it may be said again, and is the same. */
  readonly until: number;
}

export interface LoftOutside {
  /** No one acts for a process that is dead. */
  alive(): boolean;
  wait(ms: number): Promise<void>;
}

/**
 * The far side of a connector. It outlives every process of the gateway, takes messages, now and then loses its
 * answer or is not there, and repeats what people wrote to it until it is told that it is kept.
 */
export class Loft {
  /** How often each message arrived, by its key. */
  readonly arrived = new Map<string, number>();
  /** Messages to people of what waits for them, by their key; tried again until they have arrived. */
  readonly noticed = new Set<string>();
  readonly letters: Letter[] = [];
  private inbox: { readonly say: Inbox; readonly outside: LoftOutside } | undefined;
  private opened = 0;
  private asked = 0;
  private notifications = 0;

  constructor(
    private readonly outside: () => LoftOutside,
    /** Real time, ms. */
    readonly now: () => number,
  ) {}

  /** One conversation for each channel. */
  post(id: string, text: string): void {
    const until = this.now() + 20 * 3_600_000;
    const letter: Letter = {
      id,
      text,
      channel: `c${this.letters.length % 3 === 0 ? id : 'yard'}`,
      isHeard: false,
      until,
    };
    this.letters.push(letter);
    void this.tell(letter);
  }

  /** What was written lately, and is not known to be kept. */
  get unheard(): string[] {
    return this.letters.filter(({ isHeard, until }) => !isHeard && this.now() < until).map(({ id }) => id);
  }

  readonly connector: Connector = defineConnector({
    type: pigeon,
    capabilities: { threading: false, messageEdits: false, reactions: false, attachments: false },
    open: async (_settings, _signal, inbox) => {
      const outside = this.outside();
      await outside.wait(200);
      if ((this.opened += 1) % 4 === 0) throw new Error('the loft is locked');
      const listening = inbox && { say: inbox, outside };
      this.inbox = listening;
      for (const letter of this.letters) void this.tell(letter);
      return this.link(outside, listening);
    },
  });

  private link(outside: LoftOutside, listening: Loft['inbox']): ConnectorLink {
    let isOpen = true;
    return {
      send: async ({ key, text, channel }, signal) => {
        if (channel === 'people') return this.notifyPeople(key, outside);
        const behaviour = /<[a-z]+\d+ ([a-z]+)>/.exec(text)?.[1] ?? 'good';
        if (!isOpen) return { outcome: 'failed', reason: 'the loft was left' };
        await outside.wait(50);
        if (!outside.alive()) return new Promise(() => undefined);
        if (behaviour === 'silent') {
          await outside.wait(signal.aborted ? 0 : 40_000);
          return { outcome: 'failed', reason: 'the pigeon never left' };
        }
        this.arrived.set(key, (this.arrived.get(key) ?? 0) + 1);
        // Long enough that processes die between the arrival and the answer
        await outside.wait(behaviour === 'slow' ? 20_000 : 50);
        if (behaviour === 'throws') throw new Error('the pigeon did not come back');
        return { outcome: 'sent', messageId: key };
      },
      probe: async () => {
        await outside.wait(20);
        if ((this.asked += 1) % 9 === 0) throw new Error('no pigeon is at home');
      },
      close: async () => {
        isOpen = false;
        if (this.inbox === listening) this.inbox = undefined; // else another link listens by now
      },
    };
  }

  /** Now and then it does not arrive, or its answer does not come back. */
  private async notifyPeople(key: string, outside: LoftOutside): Promise<DeliveryResult> {
    await outside.wait(50);
    if (!outside.alive()) return new Promise(() => undefined);
    const lost = (this.notifications += 1) % 5;
    if (lost === 2) return { outcome: 'failed', reason: 'the board was full' };
    this.noticed.add(key);
    await outside.wait(50);
    if (lost === 4) throw new Error('no one said that it hangs there');
    return { outcome: 'sent', messageId: key };
  }

  /** Until it is kept. What was heard is sometimes said once more. */
  private async tell(letter: Letter): Promise<void> {
    const { inbox } = this;
    if (inbox === undefined || !inbox.outside.alive() || letter.isHeard || this.now() > letter.until) return;
    const { id, text, channel } = letter;
    const message = { id, channel, text, from: 'ann', thread: null };
    try {
      await inbox.say(message);
      if (!inbox.outside.alive()) return;
      letter.isHeard = true;
      if (text.includes(' slow>')) await inbox.say(message);
    } catch {
      await inbox.outside.wait(30_000);
      if (inbox.outside.alive() && this.inbox === inbox) await this.tell(letter);
    }
  }
}
