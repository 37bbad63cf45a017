/** How large a work item may be, so that its whole snapshot stays under 64 KiB. */
export const limits = {
  titleCharsMax: 200,
  /** As JSON in UTF-8, so that the whole snapshot stays under 64 KiB. */
  bodyBytesMax: 32 * 1024,
  acceptanceBytesMax: 8 * 1024,
  requestBytesMax: 6 * 1024,
  noteCharsMax: 4_000,
  commentBytesMax: 32 * 1024,
  attemptsMax: 40,
  wordCharsMax: 200,
  depthMax: 3,
  labelsMax: 20,
  labelCharsMax: 60,
  linksMax: 50,
  changedFilesMax: 500,
  handoffBytesMax: 32 * 1024,
} as const;
