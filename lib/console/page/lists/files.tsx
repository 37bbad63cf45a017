import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';
import { linkTo } from '../place.js';
import { FileList } from './file-list.js';
import { Knowledge } from './knowledge.js';
import { NewText } from './new-text.js';

/** What was uploaded, and the skills that agents have. */
export function Files() {
  const skills = useLoaded('skills', () => must(client.get('/api/skills')), { touches: named(/^skills:/) });
  return (
    <>
      <FileList />
      <section class="panel" aria-labelledby="skills-title">
        <h2 id="skills-title">Skills</h2>
        <Answered loaded={skills}>
          {(list) =>
            list.length === 0 ? (
              <p class="empty">
                No skills. A skill is a text in the folder skills of the home that agents read when they need
                it.
              </p>
            ) : (
              <ul class="rows">
                {list.map(({ name, description }) => (
                  <li key={name}>
                    <a href={linkTo({ view: 'text', path: `skills/${name}/SKILL.md` })} data-skill={name}>
                      <span class="title">{name}</span>
                      <span class="soft clip">{description}</span>
                    </a>
                  </li>
                ))}
              </ul>
            )
          }
        </Answered>
        <NewText
          label="Name of a new skill"
          button="Write a skill"
          pathOf={(name) => `skills/${name}/SKILL.md`}
        />
      </section>
      <Knowledge />
    </>
  );
}
