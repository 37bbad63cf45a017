import * as z from 'zod';
import { isTimeZone } from '../../machines/cron-time.js';
import { agents } from './agent-settings.js';
import { bucketPattern } from './backups/place.js';
import { choices } from './backups/manifest.js';
import { connectors } from './connector-settings.js';
import { notify } from './notify-settings.js';
import { storeSetting } from './store-setting.js';
import { engines, type CommandEngine } from './engines-section.js';
import { audit, telemetry } from './watching-settings.js';

/**
 * Every setting of config.yaml: its key, its unit (last in the name), its default and its bounds, in one
 * place. The file may be absent or name only what differs. Unknown keys are refused, because a misspelt
 * `authRequired` that is silently ignored is a way in left open.
 */
const gateway = z.strictObject({
  host: z
    .string()
    .min(1)
    .max(253)
    .default('127.0.0.1')
    .describe('Address to bind to. Anything but a loopback address turns authRequired on.'),
  port: z.int().min(0).max(65_535).default(7420).describe('TCP port; 0 takes any free one.'),
  authRequired: z
    .boolean()
    .default(true)
    .describe('false opens reads to every local program; changes still need a credential.'),
  plainHttp: z
    .boolean()
    .default(false)
    .describe('true lets the gateway listen on the network without TLS, where others can read along.'),
  allowedHosts: z
    .array(z.string().min(1).max(253))
    .max(100)
    .default([])
    .describe('Additional host names under which clients may address the gateway.'),
  allowedOrigins: z
    .array(z.url({ protocol: /^https?$/ }))
    .max(100)
    .default([])
    .describe('Additional web origins whose pages may call the gateway.'),
  tls: z
    .strictObject({
      cert: z
        .string()
        .min(1)
        .max(4_096)
        .describe('File with the certificate chain, PEM; relative to the home, or absolute.'),
      key: z.string().min(1).max(4_096).describe('File with its private key, PEM.'),
    })
    .nullable()
    .default(null)
    .describe(
      'Serve TLS at host and port. Programs on this machine then use a separate loopback port, see gateway.json.',
    ),
  socketsMax: z
    .int()
    .min(16)
    .max(100_000)
    .default(1_024)
    .describe('Concurrent event sockets; agents may use half of them.'),
  allowFileCustomPaths: z
    .boolean()
    .default(false)
    .describe('Let the operator copy files in from any path of this machine.'),
  allowFileOpen: z
    .boolean()
    .default(false)
    .describe('Let the operator open a managed file with the desktop program of this machine.'),
});

const portal = z.strictObject({
  companyName: z
    .string()
    .max(200)
    .default('')
    .describe('Shown to people; its first three letters begin work item ids when companyPrefix is empty.'),
  companyPrefix: z
    .string()
    .regex(/^(?:[A-Z]{3})?$/, 'must be three letters, A-Z: ids read ABC-1')
    .default('')
    .describe(
      'Prefix of work item ids, frozen once the first one is created. Empty: from companyName, else TRP.',
    ),
  timeZone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'must be the name of a time zone: Europe/Berlin')
    .nullable()
    .default(null)
    .describe(
      'In which months of budgets begin, cron jobs that name none are meant, and pages and commands show times. ' +
        "null: the machine's; pages go by the browser's, commands by the terminal's.",
    ),
  portalName: z.string().max(200).default('Troupe').describe('Shown to people.'),
  root: z
    .string()
    .max(64)
    .nullable()
    .default(null)
    .describe('Employee at the root if several executives have no reportsTo.'),
});

const sessions = z.strictObject({
  interruptOnNewMessage: z
    .boolean()
    .default(true)
    .describe('A message of a person interrupts the running turn; false queues it.'),
  roots: z
    .array(z.string().startsWith('/', 'must be an absolute path').max(4_096))
    .max(100)
    .default([])
    .describe('Folders that may contain working folders of sessions.'),
  cwd: z
    .string()
    .startsWith('/', 'must be an absolute path')
    .max(4_096)
    .nullable()
    .default(null)
    .describe('Working folder of sessions that name none, inside roots. Default: a new folder per session.'),
  worktree: z
    .boolean()
    .default(false)
    .describe('true gives each such session a git worktree of that folder.'),
  commitTurns: z
    .boolean()
    .default(true)
    .describe("What a turn leaves uncommitted in a worktree is committed on the session's branch."),
  keepWorktreeDays: z
    .number()
    .min(0)
    .max(36_500)
    .default(30)
    .describe(
      'A worktree without uncommitted work goes when its session has rested so long; its branch stays. 0: never.',
    ),
  keepToolOutput: z
    .union(
      [z.number().min(1).max(36_500), z.literal('keep')],
      'must be a number of days, 1 to 36500, or keep',
    )
    .default(30)
    .describe(
      'Days for which results of tools stay whole; then their beginning, size and hash stay. `keep`: for ever.',
    ),
  permissionWaitMinutes: z
    .number()
    .min(0.1)
    .max(10_080)
    .default(10)
    .describe('How long a tool request waits for a person before it is denied.'),
  turnDeadlineMinutes: z
    .number()
    .min(0.1)
    .max(10_080)
    .default(60)
    .describe('A turn that runs longer is ended.'),
  silenceMinutes: z
    .number()
    .min(0.01)
    .max(10_080)
    .default(10)
    .describe('A turn without output for this long that waits for no one is shown as silent.'),
  silenceAction: z
    .enum(['show', 'end'])
    .default('show')
    .describe('What becomes of such a turn: `show` leaves it to a person, `end` ends it as failed.'),
});

const backup = z.strictObject({
  to: z
    .string()
    .max(4_096)
    .refine((to) => to.startsWith('/') || bucketPattern.test(to), {
      message: 'must be an absolute path, or s3://bucket/prefix',
    })
    .nullable()
    .default(null)
    .describe(
      'Folder outside the home, or s3://bucket/prefix, that receives backups, secrets included. Default: ' +
        'none are made.',
    ),
  everyHours: z.number().min(0.1).max(8_760).default(24).describe('Hours from one backup to the next.'),
  keep: z
    .int()
    .min(1)
    .max(1_000)
    .default(7)
    .describe('Backups of this home that stay there; older ones go once a new one was restored on trial.'),
  include: z
    .array(z.enum(choices))
    .max(2)
    .default([])
    .describe(
      '`work`: the working folders of sessions, worktrees among them. `transcripts`: conversations and logins ' +
        'of agent programs that the home keeps.',
    ),
  encrypt: z
    .boolean()
    .default(false)
    .describe('Encrypt what leaves the home, with the age identity in TROUPE_BACKUP_KEY.'),
  secretsFile: z
    .string()
    .startsWith('/', 'must be an absolute path')
    .max(4_096)
    .nullable()
    .default(null)
    .describe(
      'Private file of NAME=value lines: TROUPE_BACKUP_KEY, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY. ' +
        'Default: the environment of the gateway.',
    ),
  endpoint: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null)
    .describe('Address of a server that speaks S3. Default: that of Amazon in the region.'),
  region: z.string().min(1).max(64).default('us-east-1').describe('Region of the bucket.'),
});

/** A section that is absent, or whose every line is commented out, has its defaults. */
const section = <Section extends z.ZodType>(shape: Section) =>
  z.preprocess((value) => value ?? {}, shape).prefault({});

const schema = z.strictObject({
  gateway: section(gateway),
  store: storeSetting,
  modules: z
    .array(z.string().min(1).max(4_096))
    .max(64)
    .default([])
    .describe('Files loaded at the start, each export default { kinds?, engines?, connectors? }.'),
  portal: section(portal),
  engines: section(engines),
  sessions: section(sessions),
  connectors: section(connectors),
  notify: section(notify),
  agents: section(agents),
  approvals: section(
    z.strictObject({
      escalateAfterHours: z
        .number()
        .min(0.01)
        .max(8_760)
        .default(24)
        .describe('An undecided approval escalates after this time.'),
    }),
  ),
  budgets: section(
    z.strictObject({
      enforce: z
        .boolean()
        .default(false)
        .describe(
          'true holds the turns of an employee whose monthlyBudgetUsd is used up until the month ends or ' +
            'someone raises the budget.',
        ),
    }),
  ),
  backup: section(backup),
  telemetry: section(telemetry),
  audit: section(audit),
  log: section(
    z.strictObject({
      keepDays: z.number().min(0.01).max(36_500).default(30).describe('Days of history kept.'),
      keepBytes: z
        .int()
        .min(2 ** 20)
        .default(2 * 2 ** 30)
        .describe('Bytes of history kept; the limit reached first applies.'),
    }),
  ),
  logging: section(
    z.strictObject({
      level: z
        .enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'])
        .default('info')
        .describe('Minimum level that is logged.'),
      file: z.boolean().default(true).describe('Write logs/gateway.log.'),
      fileBytesMax: z
        .int()
        .min(65_536)
        .max(2 ** 32)
        .default(2 ** 24)
        .describe('Size in bytes at which logs/gateway.log is rotated to gateway.log.1.'),
      filesKept: z.int().min(0).max(100).default(5).describe('Rotated log files kept.'),
      stdout: z.boolean().default(false).describe('Write the log to standard output as well.'),
    }),
  ),
});

/** The settings with every default filled in. `defaultConfig().gateway.port` → 7420 */
export type Config = z.infer<typeof schema>;
export type { CommandEngine };

export const configSchema = schema;
/** A schema that is asked once or twice is not worth the parser that zod would write for it: a tenth of a start. */
export const readOnce = { jitless: true } as const;
export const defaultConfig = (): Config => schema.parse({}, readOnce);
