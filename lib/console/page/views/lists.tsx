import type { SimpleView } from '../place.js';
import { Connectors } from '../lists/connectors.js';
import { Cost } from '../lists/cost.js';
import { Cron } from '../lists/cron.js';
import { Files } from '../lists/files.js';
import { Organisation } from '../lists/organisation.js';
import { Settings } from '../lists/settings.js';

/** The views that are one list each. */
export function ListPage({ view }: { readonly view: SimpleView }) {
  const { title, View } = lists[view];
  return (
    <div class={`view ${view}`}>
      <h1>{title}</h1>
      <View />
    </div>
  );
}

const lists = {
  organisation: { title: 'Organisation', View: Organisation },
  cost: { title: 'Cost', View: Cost },
  cron: { title: 'Cron', View: Cron },
  connectors: { title: 'Connectors', View: Connectors },
  files: { title: 'Files and skills', View: Files },
  settings: { title: 'Settings', View: Settings },
} as const;
