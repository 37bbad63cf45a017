import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';
import { linkTo } from '../place.js';

/** Who reports to whom, with what they run on and have spent; files that could not be read, with the reason. */
export function Organisation() {
  const loaded = useLoaded('org', read, { touches: named(/^(?:org|budget):/) });
  return (
    <Answered loaded={loaded}>
      {({ org, budgets }) => (
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
          {org.employees.length === 0 ? (
            <div class="panel empty">
              <p>
                <b>There are no employees yet.</b>
              </p>
              <p>
                An employee is a file in the folder <code>org</code> of the home: name, department, rank,
                engine, persona. It is taken up as soon as it is saved.
              </p>
              <a class="button" href="/docs/organisation">
                How to write one
              </a>
            </div>
          ) : (
            <div class="panel sheet" tabIndex={0} role="group" aria-label="Employees">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Employee</th>
                    <th scope="col">Role</th>
                    <th scope="col">Department</th>
                    <th scope="col">Engine</th>
                    <th scope="col" class="right">
                      This month
                    </th>
                    <th scope="col">
                      <span class="unseen">Work</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {inOrder(org.employees, org.hierarchy.sorted).map((one) => {
                    const budget = budgets.find(({ employee }) => employee === one.name);
                    return (
                      <tr key={one.name} data-employee={one.name}>
                        <th scope="row" style={{ paddingLeft: `${12 + one.depth * 20}px` }}>
                          {one.emoji !== undefined && <span aria-hidden="true">{one.emoji} </span>}
                          {one.displayName}
                          <small class="soft"> {one.rank}</small>
                        </th>
                        <td>{one.role}</td>
                        <td>{one.department}</td>
                        <td>{one.engine ?? 'default'}</td>
                        <td class="right num">
                          ${(budget?.spentUsd ?? 0).toFixed(2)}
                          {budget?.limitUsd != null && (
                            <small class="soft"> of ${budget.limitUsd + budget.grantedUsd}</small>
                          )}
                        </td>
                        <td class="right">
                          <a class="quiet" href={linkTo({ view: 'board', assignee: one.name })}>
                            Work
                          </a>
                        </td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            </div>
          )}
        </>
      )}
    </Answered>
  );
}

async function read() {
  const [org, budgets] = await Promise.all([
    must(client.get('/api/org')),
    must(client.get('/api/org/budgets')).catch(() => ({ budgets: [] })), // none are kept
  ]);
  return { org, budgets: budgets.budgets };
}

const inOrder = <One extends { readonly name: string }>(all: readonly One[], sorted: readonly string[]) =>
  [...all].sort((one, other) => sorted.indexOf(one.name) - sorted.indexOf(other.name));
