import type { Connector } from './connector.js';
import { discord } from './discord.js';
import { email } from './email.js';
import { slack } from './slack.js';
import { telegram } from './telegram.js';
import { webhook } from './webhook.js';

/**
 * The connectors of every gateway, by the `type` of an instance in config.yaml.
 * @example const connectors = [...builtInConnectors, pigeon];
 */
export const builtInConnectors: readonly Connector[] = [slack, discord, telegram, email, webhook];
