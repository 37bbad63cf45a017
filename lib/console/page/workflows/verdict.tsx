import type { GraphFault } from '../../../../machines/graph/reader.js';
import type { Read } from './document.js';
import type { Plan } from './plan.js';

/** What is wrong with what is written; a click goes to where it is. */
export function Faults({
  problems,
  faults,
  warnings,
  show,
}: {
  /** Of the YAML itself. */
  readonly problems: Read['problems'];
  readonly faults: readonly GraphFault[];
  readonly warnings: readonly GraphFault[];
  readonly show: (fault: GraphFault) => void;
}) {
  return (
    <div role="status" aria-label="Faults">
      {problems.map(({ message, line }, n) => (
        <p key={n} class="notice bad" data-problem>
          Line {line}: {message}
        </p>
      ))}
      {problems.length === 0 && faults.length + warnings.length > 0 && (
        <ul class="faults">
          {faults.slice(0, shownMax).map((fault, n) => (
            <Line key={n} fault={fault} tone="bad" show={show} />
          ))}
          {faults.length > shownMax && <li class="soft">{faults.length - shownMax} more</li>}
          {warnings.slice(0, shownMax).map((fault, n) => (
            <Line key={`w${n}`} fault={fault} tone="wait" show={show} />
          ))}
        </ul>
      )}
    </div>
  );
}

const shownMax = 20;

const Line = ({
  fault,
  tone,
  show,
}: {
  readonly fault: GraphFault;
  readonly tone: 'bad' | 'wait';
  readonly show: (fault: GraphFault) => void;
}) => (
  <li>
    <button type="button" class="fault" data-fault={fault.code} onClick={() => show(fault)}>
      <b class={`state ${tone}`}>{fault.ref ?? 'workflow'}</b> <span>{fault.message}</span>
    </button>
  </li>
);

/** In which order things become possible, and where it waits for a person. */
export function Waves({ plan: { definition, execution } }: { readonly plan: Plan }) {
  const labels = new Map(definition.nodes.map(({ id, label }) => [id, label]));
  const approvals = new Set(
    definition.nodes.flatMap((node) =>
      (node.type === 'gate' && node.gate.kind === 'approval') ||
      (node.type === 'step' && node.gates.some(({ kind }) => kind === 'approval'))
        ? [node.id]
        : [],
    ),
  );
  return (
    <section class="panel" aria-labelledby="waves-title">
      <h2 id="waves-title">How it would run</h2>
      <ol class="waves">
        {execution.plan?.waves.map((wave, n) => (
          <li key={n}>
            {wave.map((id) => (
              <span key={id} class="state rest">
                {labels.get(id) ?? id}
                {approvals.has(id) && ' (a person decides)'}
              </span>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}
