import { expect } from 'chai';
import { createConnectorRegistry } from '../../../actors/connectors/registry.js';
import { defineConnector, type Connector, type ConnectorLink } from '../../../actors/connectors/connector.js';
import { webhook } from '../../../actors/connectors/webhook.js';
import { connectionEffect } from '../../../actors/connector/connection.js';
import { createConnectorLinks } from '../../../actors/connector/links.js';
import { deliveryEffect } from '../../../actors/connector/delivery.js';
import { farSide, type FarSide } from '../connectors/far-side.js';
import { app } from '../effect-fixture.js';

const settings = (url: string) => ({ url, secret: 'a secret of the specs' });
const delivery = {
  deliveryId: 'd-1',
  n: 3,
  channel: 'general',
  thread: null,
  name: 'hook',
  connectorType: 'webhook',
};
const outbox = [
  { n: 2, deliveryId: 'd-0', text: 'Old' },
  { n: 3, deliveryId: 'd-1', text: 'Hello' },
];
const message = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'resolved',
    (error: Error) => error.message,
  );

function effects(connector: Connector, settingsNow: () => Record<string, string>) {
  const registry = createConnectorRegistry({
    connectors: [connector],
    instances: () => [{ name: 'hook', type: connector.type, employee: null, settings: settingsNow() }],
  });
  const links = createConnectorLinks(registry);
  return {
    links,
    connection: connectionEffect({ links, probeSeconds: 0.05, timeoutSeconds: 0.5 }),
    delivery: deliveryEffect({ links, timeoutSeconds: 0.5 }),
  };
}

describe('the hands of a connector', () => {
  let far: FarSide;
  beforeEach(async () => {
    far = await farSide();
  });
  afterEach(() => far.close());

  it('open a link, send through it, and close it when the connector is stopped', async () => {
    const { links, connection, delivery: deliver } = effects(webhook, () => settings(far.url));
    await connection.run({ name: 'hook', connectorType: 'webhook', mode: 'open' }, app().context);
    const holding = app();
    const held = connection.run({ name: 'hook', connectorType: 'webhook', mode: 'hold' }, holding.context);
    expect(await deliver.run(delivery, app({ messages: outbox }).context)).to.deep.equal({
      outcome: 'sent',
    });
    expect(
      far.got
        .filter(({ method }) => method === 'POST')
        .map(({ body, headers }) => [JSON.parse(body), headers['idempotency-key']]),
    ).to.deep.equal([[{ id: 'd-1', channel: 'general', text: 'Hello', thread: null }, 'd-1']]);
    holding.leave();
    await held;
    expect(links.get('hook')).to.equal(undefined);
    expect(await deliver.run(delivery, app({ messages: outbox }).context)).to.deep.equal({
      outcome: 'failed',
      reason: 'The connector "hook" is not open.',
    });
  });

  // A gateway that came back ran the delivery that it had accepted before its connector was open, and failed it
  it('send a message that was accepted in an earlier life once the link is open', async () => {
    const { connection, delivery: deliver } = effects(webhook, () => settings(far.url));
    const sending = deliver.run(delivery, app({ messages: outbox }).context);
    await new Promise(setImmediate); // it has looked for the link and found none
    await connection.run({ name: 'hook', connectorType: 'webhook', mode: 'open' }, app().context);
    expect(await sending).to.deep.equal({ outcome: 'sent' });
  });

  it('open the link again when it is to be held after a crash', async () => {
    const { links, connection } = effects(webhook, () => settings(far.url));
    const holding = app();
    const held = connection.run({ name: 'hook', connectorType: 'webhook', mode: 'hold' }, holding.context);
    await far.came(1);
    holding.leave();
    await held;
    expect(links.get('hook')).to.equal(undefined);
  });

  it('notice a far side that went away', async () => {
    const { connection } = effects(webhook, () => settings(far.url));
    const held = connection.run({ name: 'hook', connectorType: 'webhook', mode: 'hold' }, app().context);
    await far.came(2);
    await far.close();
    expect(await message(held)).to.match(/^http:\/\/127\.0\.0\.1:\d+ does not answer \(\w+\)\.$/);
  });

  it('say why a connector cannot be opened', async () => {
    const { connection } = effects(webhook, () => settings('http://127.0.0.1:1/'));
    const open = (name: string, connectorType: string) =>
      message(connection.run({ name, connectorType, mode: 'open' }, app().context));
    expect(await open('hook', 'webhook')).to.equal('http://127.0.0.1:1 does not answer (bad port).');
    expect(await open('other', 'webhook')).to.equal('The configuration has no connector "other".');
    expect(await open('hook', 'pigeon')).to.equal('Unknown connector type "pigeon" (known: webhook).');
  });

  it('use the settings as they are at the next opening', async () => {
    let url = 'http://127.0.0.1:1/';
    const { connection } = effects(webhook, () => settings(url));
    expect(
      await message(connection.run({ name: 'hook', connectorType: 'webhook', mode: 'open' }, app().context)),
    ).to.include('bad port');
    url = far.url;
    await connection.run({ name: 'hook', connectorType: 'webhook', mode: 'open' }, app().context);
  });

  it('write the intent before the message leaves, so that a crash is known for what it is', async () => {
    const { connection, delivery: deliver } = effects(webhook, () => settings(far.url));
    await connection.run({ name: 'hook', connectorType: 'webhook', mode: 'open' }, app().context);
    const at = app({ messages: outbox });
    const refusing = { ...at.context, checkpoint: () => Promise.reject(new Error('the disk is full')) };
    expect(await message(deliver.run(delivery, refusing))).to.equal('the disk is full');
    expect(far.got.filter(({ method }) => method === 'POST')).to.deep.equal([]);
    await deliver.run(delivery, at.context);
    expect(at.notes).to.deep.equal([{ deliveryId: 'd-1' }]);
  });

  it('never claim to know the fate of a message after a crash, and fail one whose text is gone', async () => {
    const { delivery: deliver } = effects(webhook, () => settings(far.url));
    expect(await deliver.recover(delivery, null, app().context)).to.have.property('outcome', 'unknown');
    expect(await deliver.run({ ...delivery, n: 9 }, app({ messages: outbox }).context)).to.deep.equal({
      outcome: 'failed',
      reason: 'The text of the message is no longer stored.',
    });
    expect(far.got).to.deep.equal([]);
  });

  describe('with a connector that breaks its contract', () => {
    function odd(link: Partial<ConnectorLink>): Connector {
      return defineConnector({
        type: 'webhook',
        capabilities: { threading: false, messageEdits: false, reactions: false, attachments: false },
        open: () =>
          Promise.resolve({
            send: () => Promise.resolve({ outcome: 'sent' }),
            probe: () => Promise.resolve(),
            close: () => Promise.resolve(),
            ...link,
          }),
      });
    }
    for (const [what, link, outcome] of [
      [
        'throws',
        {
          send: () => {
            throw new Error('boom');
          },
        },
        { outcome: 'unknown', reason: 'boom It may have been sent.' },
      ],
      [
        'answers nonsense',
        { send: () => Promise.resolve({} as never) },
        { outcome: 'unknown', reason: 'The connector gave no reason.' },
      ],
      [
        'never settles',
        { send: () => new Promise<never>(() => undefined) },
        { outcome: 'unknown', reason: 'The service did not answer in time. It may have been sent.' },
      ],
    ] as const) {
      it(`does not know the fate of a message when it ${what}`, async () => {
        const { connection, delivery: deliver } = effects(odd(link), () => ({}));
        await connection.run({ name: 'hook', connectorType: 'webhook', mode: 'open' }, app().context);
        expect(await deliver.run(delivery, app({ messages: outbox }).context)).to.deep.equal(outcome);
      });
    }

    it('gives up on a probe that never settles', async () => {
      const { links, connection } = effects(
        odd({ probe: () => new Promise<never>(() => undefined) }),
        () => ({}),
      );
      expect(
        await message(
          connection.run({ name: 'hook', connectorType: 'webhook', mode: 'open' }, app().context),
        ),
      ).to.equal('The service did not answer in time.');
      expect(links.get('hook')).to.equal(undefined);
    });

    it('leaves the signal of what it opened quiet', async () => {
      let given: AbortSignal | undefined;
      const { connection } = effects(
        {
          ...odd({}),
          open: (_settings, signal) => {
            given = signal;
            return odd({}).open({}, signal);
          },
        },
        () => ({}),
      );
      const at = app();
      await connection.run({ name: 'hook', connectorType: 'webhook', mode: 'open' }, at.context);
      at.leave(); // the state `starting` is left for `running`: the link must live on
      expect(given?.aborted).to.equal(false);
    });
  });
});
