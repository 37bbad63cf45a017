import { z } from 'zod';
import { askActor } from '../../../commands/request.js';
import { isRefusal, type Refusal } from '../../../../machines/refusals.js';
import type { HttpRequest } from '../../route.js';
import { idOf } from '../../parse.js';
import type { Reply } from '../../../commands/request.js';
import { employeeName, idempotencyKey, note, workItemStatus } from '../../schemas.js';

export const assignBody = z.object({ assignee: employeeName, idempotencyKey });

export const statusBody = z.object({ status: workItemStatus, note, idempotencyKey });

export const archiveBody = z.object({ note, idempotencyKey });

export async function assign(request: HttpRequest<z.output<typeof assignBody>>): Promise<Reply | Refusal> {
  // The roster knows the department
  const event = { type: 'item.assign' as const, assignee: request.body.assignee, department: null };
  const done = await askActor(request, 'work-item', idOf(request), event);
  return isRefusal(done) ? done : { ...done, body: { workItem: done.body.view } };
}

export async function move(request: HttpRequest<z.output<typeof statusBody>>): Promise<Reply | Refusal> {
  const { status, note: why } = request.body;
  const done = await askActor(request, 'work-item', idOf(request), {
    type: 'item.move',
    status,
    ...(why !== undefined && { note: why }),
  });
  if (isRefusal(done)) return done;
  // asked for something else and found escalated: the review rounds are used up
  const escalated = status !== 'escalated' && done.body.view.status === 'escalated';
  return { ...done, body: { workItem: done.body.view, escalated } };
}

export async function archive(request: HttpRequest<z.output<typeof archiveBody>>): Promise<Reply | Refusal> {
  const { note: why } = request.body;
  const done = await askActor(request, 'work-item', idOf(request), {
    type: 'item.archive',
    ...(why !== undefined && { note: why }),
  });
  return isRefusal(done) ? done : { ...done, body: { workItem: done.body.view, archived: true } };
}

/** Consoles say that it is cancelled; that is archiving. */
export async function putAway(request: HttpRequest<z.output<typeof statusBody>>): Promise<Reply | Refusal> {
  const done = await archive(request);
  return isRefusal(done)
    ? done
    : { ...done, body: { workItem: (done.body as { workItem: unknown }).workItem, escalated: false } };
}
