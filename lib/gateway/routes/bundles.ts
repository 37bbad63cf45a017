import { z } from 'zod';
import { addTemplate, importBundle, listTemplates } from '../../commands/bundles/import-bundle.js';
import { exportBundle } from '../../commands/bundles/export-bundle.js';
import { bundleBytesMax, parseBundle, printBundle } from '../../records/bundles/bundle.js';
import type { Records } from '../../records/records.js';
import { isRefusal } from '../../../machines/refusals.js';
import { route, type Route } from '../route.js';

/** Teams and whole companies as files: templates by name, export, and import with a preview. */
const template = z.object({
  name: z.string(),
  title: z.string(),
  about: z.string(),
  employees: z.array(z.string()),
  workflows: z.array(z.string()),
});
const options = {
  apply: z.boolean().optional().describe('Default false: only preview.'),
  replace: z.boolean().optional().describe('Overwrite what is here and differs; without it that is refused.'),
  sha256: z
    .string()
    .max(64)
    .optional()
    .describe('Of the preview: refused if the import would do something else by now.'),
};
const report = z
  .object({
    title: z.string(),
    entries: z.array(
      z.object({
        name: z
          .string()
          .describe(
            '`org/garden/ann.yaml`, `workflow watering`, `work item TRP-12 (here TRP-3)`, `session …`.',
          ),
        change: z.enum(['create', 'change', 'same']),
        diff: z.array(z.string()).describe('Lines, each behind `+`, `-` or a space.'),
      }),
    ),
    sha256: z.string(),
    applied: z.boolean(),
  })
  .meta({ id: 'ImportReport' });
const refusals = [
  'CONFLICT',
  'EXISTS',
  'NOT_FOUND',
  'UNKNOWN_ENGINE',
  'UNKNOWN_MODEL',
  'UNKNOWN_EFFORT',
  'QUOTA_EXCEEDED',
  'PAYLOAD_TOO_LARGE',
  'DISK_LOW',
  'WORKFLOW_INVALID',
  'WORKFLOWS_DISABLED',
] as const;

export function bundleRoutes(records: Records | undefined): readonly Route[] {
  if (records === undefined) return [];
  return [
    route(
      'GET',
      '/api/templates',
      'bundle.read',
      { about: 'Teams that can be added by name.', answer: z.object({ templates: z.array(template) }) },
      () => ({ body: { templates: listTemplates() } }),
    ),
    route(
      'POST',
      '/api/templates/:name',
      'bundle.import',
      { about: 'Add a team, or preview that.', body: z.object(options), answer: report, refusals },
      (request) => addTemplate(request, records, request.params['name'] ?? '', request.body),
    ),
    route(
      'GET',
      '/api/export',
      'bundle.read',
      {
        about: 'The company, an employee, a workflow, a work item or a session as a file, without keys.',
        query: z.object({
          what: z.enum(['company', 'employee', 'workflow', 'item', 'session']),
          name: z
            .string()
            .max(200)
            .default('')
            .describe('Of the employee, or the id of the workflow, work item or session.'),
        }),
        answer: z.object({
          bundle: z.string().describe('YAML; of a session JSON.'),
          secretsRemoved: z.int(),
        }),
        refusals: ['NOT_FOUND', 'CONFLICT', 'WORKFLOWS_DISABLED'],
      },
      async (request) => {
        const done = await exportBundle(request, records, request.query.what, request.query.name);
        return isRefusal(done)
          ? done
          : { body: { bundle: printBundle(done.bundle), secretsRemoved: done.secretsRemoved } };
      },
    ),
    route(
      'POST',
      '/api/import',
      'bundle.import',
      {
        about:
          'Take in what an export wrote, or preview that. All of it is judged before anything is written.',
        body: z.object({ bundle: z.string().max(bundleBytesMax).describe('YAML or JSON.'), ...options }),
        bodyBytesMax: 2 * bundleBytesMax,
        answer: report,
        refusals,
      },
      (request) => {
        const bundle = parseBundle(request.body.bundle);
        return isRefusal(bundle) ? bundle : importBundle(request, records, bundle, request.body);
      },
    ),
  ];
}
