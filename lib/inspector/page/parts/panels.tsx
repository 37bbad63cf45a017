import type { PanelCell } from '../../../../actors/panel.js';
import type { PanelsAnswer } from '../../answers.js';
import { linkTo } from '../place.js';

/** What a kind gives of an actor, as data: drawn here and nowhere by the kind, so that nothing in it is markup. */
export function Panels({ given: { panels, more, error } }: { readonly given: PanelsAnswer }) {
  return (
    <>
      {error !== null && (
        <p class="notice bad" role="alert">
          The panels of its kind cannot be shown: {error}
        </p>
      )}
      {panels.map((panel, n) => (
        <section key={n} class="panel own-panel" aria-labelledby={`own-panel-${n}`} data-panel={panel.type}>
          <h2 id={`own-panel-${n}`}>{panel.title}</h2>
          <Body panel={panel} />
          {panel.more > 0 && (
            <p class="soft small">
              … {panel.more} more {panel.type === 'text' ? 'characters' : ''}
            </p>
          )}
        </section>
      ))}
      {more > 0 && <p class="soft small">… {more} more panels of its kind</p>}
    </>
  );
}

type Shown = PanelsAnswer['panels'][number];

function Body({ panel }: { readonly panel: Shown }) {
  if (panel.type === 'table') return <Table panel={panel} />;
  if (panel.type === 'key-values') return <KeyValues panel={panel} />;
  if (panel.type === 'bars') return <Bars panel={panel} />;
  return panel.type === 'links' ? <Links panel={panel} /> : <p class="own-text">{panel.text}</p>;
}

const Table = ({
  panel: { title, columns, rows },
}: {
  readonly panel: Extract<Shown, { type: 'table' }>;
}) => (
  <div class="table-box" tabIndex={0} role="region" aria-label={`${title}, can be scrolled`}>
    <table class="own-table">
      <thead>
        <tr>
          {columns.map((column, n) => (
            <th key={n} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, n) => (
          <tr key={n}>
            {row.map((cell, at) => (
              <td key={at} class={typeof cell === 'number' ? 'num' : ''}>
                <Cell cell={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const KeyValues = ({ panel: { values } }: { readonly panel: Extract<Shown, { type: 'key-values' }> }) => (
  <dl class="own-values">
    {Object.entries(values).map(([name, cell]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd class={typeof cell === 'number' ? 'num' : ''}>
          <Cell cell={cell} />
        </dd>
      </div>
    ))}
  </dl>
);

function Bars({ panel: { bars, unit = '' } }: { readonly panel: Extract<Shown, { type: 'bars' }> }) {
  const greatest = Math.max(...bars.map(({ value }) => value));
  return (
    <ul class="own-bars">
      {bars.map(({ label, value, of }, n) => {
        const full = of ?? greatest;
        return (
          <li key={n}>
            <span>{label}</span>
            <span class="num">
              {value.toLocaleString('en')}
              {of !== undefined && ` of ${of.toLocaleString('en')}`} {unit}
            </span>
            <span class="bar" aria-hidden="true">
              <i
                class={of !== undefined && value > of ? 'bad' : ''}
                style={{ width: `${full > 0 ? Math.min(100, (value / full) * 100) : 0}%` }}
              />
            </span>
          </li>
        );
      })}
    </ul>
  );
}

const Links = ({ panel: { links } }: { readonly panel: Extract<Shown, { type: 'links' }> }) => (
  <ul class="own-links">
    {links.map(({ label, to }, n) => (
      <li key={n}>
        {typeof to === 'string' ? (
          <a href={to} target="_blank" rel="noopener noreferrer">
            {label} <small class="soft">{new URL(to).host}</small>
          </a>
        ) : (
          <a href={linkTo({ view: 'actor', kind: to.kind, id: to.id })}>{label}</a>
        )}
      </li>
    ))}
  </ul>
);

/** Nothing is written as nothing, so that it cannot be taken for an empty text. */
const Cell = ({ cell }: { readonly cell: PanelCell }) =>
  cell === null ? (
    <span class="soft">none</span>
  ) : typeof cell === 'boolean' ? (
    <>{cell ? 'yes' : 'no'}</>
  ) : (
    <>{typeof cell === 'number' ? cell.toLocaleString('en') : cell}</>
  );
