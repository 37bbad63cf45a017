import { expect, needChaiAndMocha } from './assertions.js';
import type { Connector, ConnectorLink } from '../../actors/connectors/connector.js';
import type { Json } from '../../machines/outputs.js';

/** Which connector is tried, and on which far side. */
export interface ConnectorContractOptions {
  /** The one that is tried; every spec asks for one. */
  readonly connector: () => Connector;
  /** Where to send to. Default `general`. */
  readonly channel?: string;
  /** Settings of a working instance. */
  readonly settings: () => Readonly<Record<string, Json>>;
  /** The texts that the far side got so far. */
  readonly received: () => readonly string[];
  /** Settings that cannot work, e.g. without the secret. */
  readonly brokenSettings: () => Readonly<Record<string, Json>>;
  /** Settings of a far side that is not there. */
  readonly absentSettings: () => Readonly<Record<string, Json>>;
}

/**
 * The promises of a connector, runnable: call it from a spec of your own, with a far side that you control.
 * Needs mocha and chai.
 *
 *
 * Throws where `chai` is not installed.
 * @example
 *   connectorContract('pigeon', {
 *     connector: () => pigeon,
 *     settings: () => ({ loft: far.url }),
 *     received: () => far.texts,
 *     brokenSettings: () => ({}),
 *     absentSettings: () => ({ loft: 'http://127.0.0.1:9' }),
 *   });
 */
export function connectorContract(title: string, options: ConnectorContractOptions): void {
  needChaiAndMocha();
  describe(`${title} keeps the contract of connectors`, () => {
    const open: ConnectorLink[] = [];
    const linked = async (settings: Readonly<Record<string, Json>>): Promise<ConnectorLink> => {
      const link = await options.connector().open(settings, new AbortController().signal);
      open.push(link);
      return link;
    };
    afterEach(async () => {
      for (const link of open.splice(0)) await link.close();
    });
    const message = (key: string, text = 'Hello, Grüße 😀') => ({
      channel: options.channel ?? 'general',
      text,
      thread: null,
      key,
    });

    it('is named as the configuration needs it and says what it can do', () => {
      const { type, capabilities } = options.connector();
      expect(type).to.match(/^[a-z][a-z0-9-]*$/);
      expect(Object.values(capabilities).every((value) => typeof value === 'boolean')).to.equal(true);
    });

    it('refuses settings that cannot work with a sentence that holds no secret', async () => {
      const settings = options.brokenSettings();
      const reason = await options
        .connector()
        .open(settings, new AbortController().signal)
        .then(
          () => 'opened',
          (error: Error) => error.message,
        );
      expect(reason)
        .to.match(/^\S.*\.$/)
        .and.not.equal('opened');
      for (const value of Object.values(settings))
        if (typeof value === 'string' && value.length > 8) expect(reason).to.not.include(value);
    });

    it('probes a far side that is there without sending anything', async () => {
      const before = options.received().length;
      await (await linked(options.settings())).probe(new AbortController().signal);
      expect(options.received()).to.have.lengthOf(before);
    });

    it('says in a sentence that the far side is not there', async () => {
      const link = await linked(options.absentSettings()).catch((error: Error) => error);
      const reason =
        link instanceof Error
          ? link.message
          : await link.probe(new AbortController().signal).then(
              () => 'there',
              (error: Error) => error.message,
            );
      expect(reason)
        .to.match(/^\S.*\.$/)
        .and.not.equal('there');
    });

    it('sends a text as it is, once', async () => {
      const link = await linked(options.settings());
      const text = 'Hello, Grüße 😀 "quoted" <b>&amp;\n\nsecond paragraph';
      expect(await link.send(message('k1', text), new AbortController().signal)).to.have.property(
        'outcome',
        'sent',
      );
      expect(options.received().filter((received) => received === text)).to.have.lengthOf(1);
    });

    it('answers an outcome, not an exception, when it is given up', async () => {
      const link = await linked(options.settings());
      const result = await link.send(message('k2'), AbortSignal.abort());
      expect(result.outcome).to.be.oneOf(['failed', 'unknown']);
      if (result.outcome !== 'sent') expect(result.reason).to.be.a('string').and.not.equal('');
    });

    it('never says sent when the far side is not there', async () => {
      const link = await linked(options.absentSettings()).catch(() => undefined);
      if (link === undefined) return; // it refused to open, which says the same
      expect((await link.send(message('k3'), new AbortController().signal)).outcome).to.not.equal('sent');
    });

    it('closes more than once without complaint', async () => {
      const link = await linked(options.settings());
      await link.close();
      await link.close();
    });
  });
}
