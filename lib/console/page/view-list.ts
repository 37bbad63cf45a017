import type { Place } from './place.js';

/** A view as it is listed: in the frame, behind More, in the palette. */
export interface View {
  readonly to: Place;
  readonly name: string;
  readonly keys: string;
  readonly icon: string;
  /** On a phone it is reached by way of More. */
  readonly minor?: boolean;
}

export const views: readonly View[] = [
  {
    to: { view: 'now' },
    name: 'Now',
    keys: 'g n',
    icon: 'M9 2v3M9 13v3M2 9h3M13 9h3M9 6.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5z',
  },
  {
    to: { view: 'inbox' },
    name: 'Inbox',
    keys: 'g i',
    icon: 'M2.500 10.500h4l1 2h3l1-2h4M2.500 10.500l2-7h9l2 7v4h-13z',
  },
  { to: { view: 'chat' }, name: 'Chat', keys: 'g c', icon: 'M3 3.500h12v8.500H8l-3.500 3v-3H3z' },
  {
    to: { view: 'board' },
    name: 'Board',
    keys: 'g b',
    icon: 'M3 3.500h3.500v11H3zM7.500 3.500H11v7H7.500zM12 3.500h3v9h-3z',
  },
  {
    to: { view: 'workflows' },
    name: 'Workflows',
    keys: 'g w',
    icon: 'M2.500 7h4v4h-4zM11.500 2.500h4v4h-4zM11.500 11.500h4v4h-4zM6.500 9H9M11.500 4.500H9v9h2.500',
    minor: true,
  },
  {
    to: { view: 'organisation' },
    name: 'Organisation',
    keys: 'g o',
    icon: 'M7 2.500h4v3.500H7zM2 12h4v3.500H2zM12 12h4v3.500h-4zM9 6v3M4 12V9h10v3',
    minor: true,
  },
  { to: { view: 'cost' }, name: 'Cost', keys: 'g $', icon: 'M3 15V9M7 15V4M11 15v-4M15 15V7', minor: true },
  {
    to: { view: 'cron' },
    name: 'Cron',
    keys: 'g t',
    icon: 'M9 5v4.500l3 1.500M16 9A7 7 0 1 1 2 9a7 7 0 0 1 14 0z',
    minor: true,
  },
  {
    to: { view: 'connectors' },
    name: 'Connectors',
    keys: 'g k',
    icon: 'M5 6.500h8M5 11.500h8M10.500 4L13 6.500 10.500 9M7.500 9L5 11.500 7.500 14',
    minor: true,
  },
  {
    to: { view: 'files' },
    name: 'Files',
    keys: 'g f',
    icon: 'M4 2.500h6.500L14 6v9.500H4zM10.500 2.500V6H14',
    minor: true,
  },
  {
    to: { view: 'settings' },
    name: 'Settings',
    keys: 'g s',
    icon: 'M3 5h12M3 9h12M3 13h12M7 3.500v3M12 7.500v3M6 11.500v3',
    minor: true,
  },
];
