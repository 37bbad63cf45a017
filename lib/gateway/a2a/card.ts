import type { AgentCard } from '@a2a-js/sdk';
import type { Offered } from '../../commands/a2a/credentials.js';

/**
 * What an employee shows of itself to those who have no credential yet: a name, a sentence, and how to talk to it.
 * `address`: of the employee, as the asker reaches it.
 */
export function cardOf({ name, displayName, offer }: Offered, address: string, version: string): AgentCard {
  const description = offer.description || `${displayName} takes tasks in words and answers in words.`;
  const words = ['text/plain'];
  return {
    name: displayName,
    description,
    version,
    supportedInterfaces: [{ url: address, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' }],
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    securitySchemes: {
      bearer: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: { scheme: 'Bearer', bearerFormat: '', description: 'The credential of this employee.' },
        },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: words,
    defaultOutputModes: words,
    skills: [
      {
        id: name,
        name: displayName,
        description,
        tags: [],
        examples: [],
        inputModes: words,
        outputModes: words,
        securityRequirements: [],
      },
    ],
    signatures: [],
  };
}
