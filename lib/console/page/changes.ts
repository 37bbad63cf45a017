import type { Answer } from '../../client/index.js';

/** What a session has changed, as the gateway answers it. */
export type Changes = Answer<'/api/sessions/{id}/changes', 'get'>;
