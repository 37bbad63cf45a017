import { Readable } from 'node:stream';
import type { Transporter } from 'nodemailer';
import type { Options as SmtpOptions, SentMessageInfo } from 'nodemailer/lib/smtp-transport/index.js';
import { optionalPackage } from '../optional-package.js';
import { defineConnector, type Connector, type DeliveryResult, type OutboundMessage } from './connector.js';
import { codeOf } from './delivering.js';
import { secondsOf, secretOf, textOf, type Settings } from './settings.js';

/**
 * Mail by SMTP. The channel is the address of one recipient, the thread a subject (replies with the same
 * subject stand together in most programs); the message's key becomes its Message-ID, so that a copy can be
 * recognised.
 *
 * Settings: `host`, `port` (default 587), `from`, `subject` (default "Message"), `user` and `password` (none:
 * no login), `tls` (`required`, the default; `implicit`, as on port 465; `none`, for a server on this machine
 * only), `allowTo` (addresses or `@domains` that may be written to; default: any), `timeoutSeconds` (default
 * 20).
 * @example
 *   connectors: # config.yaml
 *     instances: [{ name: mail, type: email, host: smtp.example, from: bot@example.org }]
 */
export const email: Connector = defineConnector({
  type: 'email',
  capabilities: { threading: true, messageEdits: false, reactions: false, attachments: false },
  async open(settings) {
    const { transportOptions, from, subject, allowTo } = readSettings(settings);
    const { default: nodemailer } = await optionalPackage('nodemailer', () => import('nodemailer'));
    const transport = nodemailer.createTransport(transportOptions);
    return {
      async send(message, signal) {
        const unfit = unfitRecipient(message.channel, allowTo);
        if (unfit !== undefined) return { outcome: 'failed', reason: unfit };
        if (signal.aborted) return { outcome: 'failed', reason: 'Cancelled before it was sent.' };
        const abandon = (): void => transport.close();
        signal.addEventListener('abort', abandon, { once: true });
        try {
          return await posted(transport, from, message.thread ?? subject, message);
        } finally {
          signal.removeEventListener('abort', abandon);
        }
      },
      async probe() {
        await transport.verify().catch((error: unknown) => {
          throw new Error(`The mail server rejected the login (${codeOf(error)}).`, { cause: error });
        });
      },
      async close() {
        transport.close();
      },
    };
  },
});

async function posted(
  transport: Transport,
  from: string,
  subject: string,
  { channel, text, key }: OutboundMessage,
): Promise<DeliveryResult> {
  // Read only once the server wants the body: what fails before that was not delivered. (The library's own
  // word for the stage of an error says "CONN" for every connection that breaks, however late.)
  let begun = false;
  const body = Readable.from(
    (function* () {
      begun = true;
      yield Buffer.from(text);
    })(),
  );
  try {
    const { messageId } = await transport.sendMail({
      from,
      to: { name: '', address: channel },
      subject: subject.replace(/[\r\n]+/g, ' ').slice(0, 200),
      text: body,
      messageId: `<${key.replace(/[^A-Za-z0-9._-]/g, '-')}@troupe.invalid>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    return { outcome: 'sent', messageId };
  } catch (error) {
    return judge(error, begun);
  }
}

function judge(error: unknown, begun: boolean): DeliveryResult {
  const { responseCode, response } = error as {
    readonly responseCode?: unknown;
    readonly response?: unknown;
  };
  if (typeof responseCode === 'number' && responseCode >= 400)
    return {
      outcome: 'failed',
      reason: `The mail server refused the message: ${String(response ?? responseCode).slice(0, 300)}`,
    };
  if (!begun) return { outcome: 'failed', reason: `The mail server could not be used (${codeOf(error)}).` };
  return {
    outcome: 'unknown',
    reason: `The mail server did not answer (${codeOf(error)}); it may have the message.`,
  };
}

type Transport = Transporter<SentMessageInfo>;

function readSettings(settings: Settings): {
  readonly transportOptions: SmtpOptions;
  readonly from: string;
  readonly subject: string;
  readonly allowTo: readonly string[];
} {
  const { port = 587, user, tls = 'required', allowTo = [] } = settings;
  const host = textOf(settings, 'email', 'host');
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error('"port" of an email connector must be a number from 1 to 65535.');
  if (tls !== 'required' && tls !== 'implicit' && tls !== 'none')
    throw new Error('"tls" of an email connector must be required, implicit or none.');
  if (tls === 'none' && !/^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host))
    throw new Error(
      '"tls: none" is for a mail server on this machine only: the password and every message would be ' +
        'sent unencrypted.',
    );
  if (!Array.isArray(allowTo) || !allowTo.every((entry) => typeof entry === 'string'))
    throw new Error('"allowTo" of an email connector must be a list of addresses or @domains.');
  const timeoutMs = secondsOf(settings, 'email', 20) * 1000;
  const transportOptions: SmtpOptions = {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'none',
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true, // a text is a text, whatever it looks like
    ...(user === undefined || user === null
      ? {}
      : { auth: { user: textOf(settings, 'email', 'user'), pass: secretOf(settings, 'email', 'password') } }),
  };
  return {
    transportOptions,
    from: textOf(settings, 'email', 'from'),
    subject: textOf(settings, 'email', 'subject', 'Message'),
    allowTo: allowTo as readonly string[],
  };
}

/** One plain address: nothing that a mail library could take for a list, a name or another header. */
function unfitRecipient(channel: string, allowTo: readonly string[]): string | undefined {
  if (!/^[^\s<>(),:;"@[\]\\]{1,64}@[^\s<>(),:;"@[\]\\]{1,190}$/.test(channel))
    return 'The channel of an email must be one plain address, like ann@example.org.';
  const wanted = channel.toLowerCase();
  const isAllowed =
    allowTo.length === 0 ||
    allowTo.some((entry) =>
      entry.startsWith('@') ? wanted.endsWith(entry.toLowerCase()) : wanted === entry.toLowerCase(),
    );
  return isAllowed ? undefined : `The configuration does not allow this connector to write to ${channel}.`;
}
