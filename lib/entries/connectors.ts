/** `troupe/connectors`: ways to people, and what one's own is made of. Vendors' packages load with the first use. */
export {
  defineConnector,
  type Connector,
  type ConnectorLink,
  type DeliveryResult,
  type InboundMessage,
  type Inbox,
  type OutboundMessage,
} from '../../actors/connectors/connector.js';
export type { ConnectorInstance } from '../../actors/connectors/registry.js';
export { builtInConnectors } from '../../actors/connectors/built-in.js';
export { discord } from '../../actors/connectors/discord.js';
export { email } from '../../actors/connectors/email.js';
export { slack } from '../../actors/connectors/slack.js';
export { telegram } from '../../actors/connectors/telegram.js';
export { webhook } from '../../actors/connectors/webhook.js';
