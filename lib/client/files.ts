import type { Answer, RefusalOf, Requests, RequestSettings } from './requests.js';

/** Bytes: what is no JSON, and so has calls of its own. */
export interface Files {
  /**
   * Keep a file, to be named as an attachment of a message. `name`: default that of a `File`, else `file`.
   * @example const kept = await client.files.upload(new Blob(['a,b'], { type: 'text/csv' }), 'a.csv');
   */
  upload(
    file: Blob,
    name?: string,
    settings?: RequestSettings,
  ): Promise<Answer<'/api/files', 'post'> | RefusalOf<'/api/files', 'post'>>;
  /**
   * The bytes of a file; `NOT_FOUND` where there is none.
   * @example const bytes = await client.files.download(kept.id);
   */
  download(id: string, settings?: RequestSettings): Promise<Blob | RefusalOf<'/api/files/{id}', 'get'>>;
}

export const createFiles = (requests: Requests): Files => ({
  upload(file, name = file instanceof File ? file.name : 'file', settings = {}) {
    const form = new FormData();
    form.append('file', file, name);
    return requests.post('/api/files', { ...settings, body: form as never }); // the document knows its parts
  },
  download: async (id, settings = {}) =>
    (await requests.get('/api/files/{id}', {
      ...settings,
      params: { path: { id } },
      parseAs: 'blob',
    })) as Blob | RefusalOf<'/api/files/{id}', 'get'>,
});
