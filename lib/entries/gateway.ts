/** `troupe/gateway`: HTTP and WebSocket over a supervisor, and a whole instance with its home. */
export { createGateway, type Gateway, type GatewayOptions } from '../gateway/server.js';
export { openListeners, type Listeners, type ListenersOptions, type Tls } from '../gateway/listeners.js';
export {
  mountInspector,
  type Admission,
  type KoaContext,
  type MountedInspector,
  type MountOptions,
} from '../gateway/mount-inspector.js';
export { route, type HttpRequest, type Method, type Route, type RouteSchema } from '../gateway/route.js';
export type { AuthorityId } from '../gateway/authorization.js';
export type { TokenBook } from '../gateway/authentication.js';
export { startInstance, type Instance, type InstanceOptions } from '../instance.js';
export type { App, Engines, Follower, Settings } from '../commands/app.js';
export type { Reply, Request } from '../commands/request.js';
