import { useSignal } from '@preact/signals';
import { now, span } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';
import { Load } from '../parts/load.js';
import { Retire } from '../parts/retire.js';
import { TeamTemplates } from '../parts/team-templates.js';
import { go, linkTo } from '../place.js';
import { NoRecords, Sheet } from '../parts/sheet.js';

/** Who reports to whom, with what they run on, have to do and have spent; files that could not be read, with the reason. */
export function Organisation() {
  const loaded = useLoaded('org', read, { touches: named(/^(?:org|budget):/) });
  return (
    <Answered loaded={loaded}>
      {({ org, budgets, quotas }) => (
        <>
          {org.setAside.map(({ file, reason }) => (
            <p key={file} class="notice bad">
              <code>{file}</code> is not in use: {reason}
            </p>
          ))}
          {org.hierarchy.warnings.map(({ employee, message }, n) => (
            <p key={n} class="notice">
              {employee}: {message}
            </p>
          ))}
          <Hire departments={org.departments} taken={org.employees.map(({ name }) => name)} />
          {org.employees.length === 0 ? (
            <NoRecords
              title="There are no employees yet."
              guide={{ href: '/docs/organisation', label: 'How to write one' }}
            >
              An employee is a file in the folder <code>org</code> of the home: name, department, rank,
              engine, persona. It is taken up as soon as it is saved.
            </NoRecords>
          ) : (
            <Sheet
              label="Employees"
              columns={[
                'Employee',
                'Role',
                'Department',
                'Engine',
                'Load',
                { name: 'This month', shown: 'right' },
                { name: 'Retire', shown: 'unseen' },
              ]}
              items={inOrder(org.employees, org.hierarchy.sorted)}
              keyOf={({ name }) => name}
              row={(one, at) => {
                const budget = budgets.find(({ employee }) => employee === one.name);
                const met = quotas.find(({ agent }) => agent === `employee:${one.name}`)?.met;
                return (
                  <tr key={one.name} data-employee={one.name} {...at}>
                    <th scope="row" style={{ paddingLeft: `${12 + one.depth * 20}px` }}>
                      {one.emoji !== undefined && <span aria-hidden="true">{one.emoji} </span>}
                      <a href={linkTo({ view: 'text', path: `org/${one.department}/${one.name}.yaml` })}>
                        {one.displayName}
                      </a>
                      <small class="soft"> {one.rank}</small>
                      {met !== undefined && now.value - met.at < shownMs && (
                        <small class="bad">
                          {' '}
                          met its quota of {met.quota}, {span(now.value - met.at)} ago
                        </small>
                      )}
                    </th>
                    <td class="role">{one.role}</td>
                    <td>{one.department}</td>
                    <td>{one.engine ?? 'default'}</td>
                    <td class="num">
                      <Load name={one.name} />
                    </td>
                    <td class="right num">
                      ${(budget?.spentUsd ?? 0).toFixed(2)}
                      {budget?.limitUsd != null && (
                        <small class="soft"> of ${budget.limitUsd + budget.grantedUsd}</small>
                      )}
                    </td>
                    <td class="right">
                      <Retire
                        employee={one}
                        reports={org.employees
                          .filter(({ name, reportsTo }) => {
                            const named = typeof reportsTo === 'string' ? [reportsTo] : reportsTo;
                            return one.directReports.includes(name) || named?.includes(one.name);
                          })
                          .map(({ name }) => name)}
                        others={org.employees.filter(({ name }) => name !== one.name)}
                      />
                    </td>
                  </tr>
                );
              }}
            />
          )}
        </>
      )}
    </Answered>
  );
}

/** Someone new, written from a beginning; or a whole team. */
function Hire({
  departments,
  taken,
}: {
  readonly departments: readonly string[];
  readonly taken: readonly string[];
}) {
  const name = useSignal('');
  const department = useSignal(departments[0] ?? '');
  const isTaken = taken.includes(name.value);
  const isName = /^[a-z0-9][a-z0-9._-]*$/.test(name.value) && /^[a-z0-9][a-z0-9._-]*$/.test(department.value);
  return (
    <details class="panel hire">
      <summary>Hire …</summary>
      <form
        class="ways"
        onSubmit={(event) => {
          event.preventDefault();
          go({ view: 'text', path: `org/${department.value}/${name.value}.yaml` });
        }}
      >
        <input
          type="text"
          aria-label="Name of the new employee"
          placeholder="name"
          value={name.value}
          maxLength={60}
          autocomplete="off"
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
        <input
          type="text"
          aria-label="Department"
          placeholder="department"
          list="departments"
          value={department.value}
          maxLength={60}
          autocomplete="off"
          onInput={(event) => {
            department.value = event.currentTarget.value;
          }}
        />
        <datalist id="departments">
          {departments.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <button type="submit" class="primary" disabled={!isName || isTaken}>
          Write {name.value === '' ? 'an employee' : name.value}
        </button>
        <span class="small soft" role="status">
          {isTaken ? 'There is one of this name.' : 'Small letters, digits, dots and dashes.'}
        </span>
      </form>
      <h2>Or a team</h2>
      <TeamTemplates />
    </details>
  );
}

async function read() {
  const [org, budgets, quotas] = await Promise.all([
    must(client.get('/api/org')),
    must(client.get('/api/org/budgets')).catch(() => ({ budgets: [] })), // none are kept
    must(client.get('/api/inspect/quotas')),
  ]);
  return { org, budgets: budgets.budgets, quotas: quotas.agents };
}

const shownMs = 86_400_000;

const inOrder = <One extends { readonly name: string }>(all: readonly One[], sorted: readonly string[]) =>
  [...all].sort((one, other) => sorted.indexOf(one.name) - sorted.indexOf(other.name));
