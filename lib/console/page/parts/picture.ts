/** No picture that could carry a script is drawn as one. */
export const isPicture = (type: string): boolean => /^image\/(?:png|jpeg|gif|webp|avif)$/.test(type);

export const safeType = (type: string): string => (isPicture(type) ? type : 'application/octet-stream');
