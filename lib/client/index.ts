/**
 * `troupe/client`: what programs on the other side of HTTP use, in Node and in browsers. The types are made from
 * the gateway's OpenAPI document.
 */
export { createClient, type Client, type ClientOptions } from './client.js';
export type { Socket } from './connection.js';
export type { FeedOptions, GatewayFeed } from './feed.js';
export type { InspectorFeed, InspectOptions } from './inspector-feed.js';
export type {
  ComplaintFrame,
  CursorFrame,
  EntriesFrame,
  HelloFrame,
  InspectEntry,
  InspectFrame,
  InspectRefusal,
  PongFrame,
  RefusalsFrame,
  ResetFrame,
} from './inspector-frames.js';
export type { Events, EventsOptions, GatewayEvent } from './events.js';
export type { Files } from './files.js';
export type {
  Answer,
  InitOf,
  Method,
  PathWith,
  RefusalOf,
  Requests,
  RequestSettings,
  Verb,
} from './requests.js';
export type { Delta, Run, RunRefusal, RunSettings, Session, TurnAnswer } from './run.js';
export { GatewayError, isRefusal, type Refusal } from './refusal.js';
export type { components, EventName, paths } from './api.js';
