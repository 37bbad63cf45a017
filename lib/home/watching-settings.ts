import * as z from 'zod';

/** What leaves the home for those who watch it. */
export const telemetry = z.strictObject({
  to: z
    .url({ protocol: /^https?$/ })
    .refine((to) => new URL(to).username === '' && new URL(to).password === '', {
      message: 'must hold no credential: set OTEL_EXPORTER_OTLP_HEADERS in the environment of the gateway',
    })
    .nullable()
    .default(null)
    .describe('Address of an OTLP/HTTP receiver of traces, metrics and logs. Default: nothing is sent.'),
  content: z
    .boolean()
    .default(false)
    .describe('true sends prompts, answers, and what tools are given and say, too.'),
  metricsEverySeconds: z
    .number()
    .min(1)
    .max(3_600)
    .default(60)
    .describe('Seconds from one sending of metrics to the next.'),
});

export const audit = z.strictObject({
  file: z
    .string()
    .startsWith('/', 'must be an absolute path')
    .max(4_096)
    .nullable()
    .default(null)
    .describe('File outside the home to which each line of the audit log is appended. Default: none.'),
  syslog: z
    .url({ protocol: /^(?:udp|tcp)$/ })
    .refine((to) => !/^\w+:\/\/[^/]*@/.test(to), 'must hold no credential: logs and findings name it')
    .nullable()
    .default(null)
    .describe('Syslog server that receives each line, udp://host:port or tcp://host:port. Default: none.'),
  command: z
    .array(z.string().max(4_096))
    .min(1)
    .max(64)
    .nullable()
    .default(null)
    .describe('Program and its arguments that receives lines on stdin. No shell is involved. Default: none.'),
});
