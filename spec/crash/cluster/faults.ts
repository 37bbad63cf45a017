import { setTimeout as wait } from 'node:timers/promises';
import { drainHome, fenceHome } from '../../../lib/store/postgres/nodes.js';
import type { Random } from '../random.js';
import type { Fleet, Node } from './fleet.js';

/** What befalls a cluster: of each kind a turn comes before any comes again, in an order of the seed. */
export interface Fault {
  readonly name: string;
  /** Ends when what it did is undone; the take-over is counted from its beginning. */
  befall(fleet: Fleet, owner: Node, random: Random): Promise<string>;
}

/** Milliseconds that a pause may take at most. */
export function faultsOf(pauseMsMax: number): readonly Fault[] {
  const pause = (random: Random): number => random.between(1_000, pauseMsMax);
  return [
    {
      name: 'kill',
      befall: async (_fleet, { child, name }) => {
        child.kill('SIGKILL');
        return `killed ${name}`;
      },
    },
    {
      name: 'freeze',
      async befall(_fleet, owner, random) {
        const ms = pause(random);
        const { child } = owner;
        child.kill('SIGSTOP');
        owner.isFrozen = true;
        await wait(ms);
        child.kill('SIGCONT');
        owner.isFrozen = false;
        return `froze ${owner.name} for ${ms} ms`;
      },
    },
    {
      name: 'cut',
      async befall(_fleet, { network, name }, random) {
        const ms = pause(random);
        network.cut();
        await wait(ms);
        network.join();
        return `cut ${name} off from the database for ${ms} ms`;
      },
    },
    {
      name: 'delay',
      async befall(_fleet, { network, name }, random) {
        const ms = random.between(200, 2_000);
        network.delay(ms);
        await wait(pause(random));
        network.join();
        return `delayed ${name} by ${ms} ms each way`;
      },
    },
    {
      name: 'reset',
      async befall(_fleet, { network, name }, random) {
        const times = random.between(1, 5);
        for (let n = 0; n < times; n += 1) {
          network.reset();
          await wait(random.between(0, 300));
        }
        return `reset the connections of ${name} ${times} times`;
      },
    },
    {
      name: 'database',
      async befall({ server }, _owner, random) {
        const ms = random.between(0, Math.min(pauseMsMax, 5_000));
        await server.kill();
        await wait(ms);
        await server.start();
        return `killed PostgreSQL, which came back after ${ms} ms`;
      },
    },
    {
      name: 'clock',
      async befall({ nodes }, _owner, random) {
        const skews = nodes.map(({ child, name, isFrozen }) => {
          const skewMs = random.between(-5_000, 5_000);
          if (!isFrozen && child.connected) child.send({ skewMs }, () => undefined);
          return `${name} ${skewMs}`;
        });
        await wait(1_000);
        return `set clocks (ms off): ${skews.join(', ')}`;
      },
    },
    {
      name: 'drain',
      async befall({ store }, { name }) {
        await drainHome(store);
        return `drained ${name}`;
      },
    },
    {
      name: 'fence',
      async befall({ store }, { name }) {
        await fenceHome(store);
        return `fenced ${name}`;
      },
    },
    {
      name: 'standby',
      async befall({ nodes }, owner, random) {
        const hit = random.pick(nodes.filter((node) => node !== owner));
        hit.child.kill('SIGKILL');
        return `killed ${hit.name}, a standby`;
      },
    },
  ];
}

/** Without end: all kinds in an order of the seed, then all again in another. */
export function* inTurn(faults: readonly Fault[], random: Random): Generator<Fault, never> {
  for (;;) {
    const left = [...faults];
    while (left.length > 0) yield left.splice(random.between(0, left.length - 1), 1)[0] as Fault;
  }
}
