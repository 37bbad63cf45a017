import { z } from 'zod';
import { ranks } from '../records/roster/employee.js';

/** What the routes of the organisation show. */
const place = {
  parentName: z.string().nullable(),
  directReports: z.array(z.string()),
  depth: z.int(),
  chain: z.array(z.string()).describe('From the top down, this one included.'),
};

const common = {
  name: z.string(),
  displayName: z.string(),
  department: z.string(),
  rank: z.enum(ranks),
  engine: z.string().nullable(),
  model: z.string().nullable(),
  effortLevel: z.string().optional(),
  alwaysNotify: z.boolean(),
  reportsTo: z.union([z.string(), z.array(z.string())]).optional().describe('As written in the file; `parentName` is what it comes to.'),
  emoji: z.string().optional(),
  cliFlags: z.array(z.string()).optional(),
  provides: z.array(z.looseObject({})).optional(),
  mcp: z.union([z.boolean(), z.array(z.string())]).optional(),
  monthlyBudgetUsd: z.number().optional(),
  allowedConnectors: z.array(z.string()),
  permissions: z.unknown(),
  ...place,
};

export const employeeRow = z.object({ ...common, role: z.string().describe('The beginning of the persona.') }).meta({ id: 'EmployeeRow' });
export const employee = z.object({ ...common, persona: z.string() }).meta({ id: 'Employee' });

export const organisation = z.object({
  departments: z.array(z.string()),
  departmentDetails: z.array(z.object({ name: z.string(), displayName: z.string(), description: z.string().nullable() })),
  employees: z.array(employeeRow),
  hierarchy: z.object({
    root: z.string().nullable().describe('Null: the operator.'),
    sorted: z.array(z.string()),
    warnings: z.array(z.object({ employee: z.string(), type: z.string(), message: z.string(), ref: z.string().nullable() })),
  }),
  setAside: z.array(z.object({ file: z.string(), reason: z.string() })).describe('Files that cannot be used, and why.'),
});

export const budget = z.object({
  employee: z.string(), month: z.string().describe('`2026-11`, UTC.'), limitUsd: z.number().nullable().describe('`monthlyBudgetUsd` of the roster; null: none.'),
  grantedUsd: z.number().describe('Granted by people on top, this month.'), spentUsd: z.number(), turns: z.int().describe('Turns that told a cost.'),
  percent: z.int().nullable(), state: z.enum(['within', 'warned', 'exceeded']).describe('Warned from 80 %, exceeded from 100 %.'),
}).meta({ id: 'Budget' });
