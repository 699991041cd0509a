/** Statements on the index of artifacts. */
import { mostPlaces } from '../artifact-records.ts'
import { isGone } from './log.ts'

const columns = 'c.id as conversation, e.key & 1048575 as seq, e.text'
const entry = 'join entries e on e.key = a.conversation * 1048576 + a.seq'

/** Statements on the index of artifacts. */
export const artifactSql = {
  insertArtifact: `
insert or ignore into artifacts (conversation, seq, database, id, run, agent) values (?1, ?2, ?3, ?4, ?5, ?6)`,
  /** The place of an artifact in its conversation, for a cursor. */
  artifactPlace: `
select a.seq from conversations c join artifacts a on a.database = c.database and a.id = ?3 and a.conversation = c.number
where c.database = ?1 and c.id = ?2`,
  listArtifacts: `
select ${columns} from conversations c join artifacts a on a.conversation = c.number and a.seq > ?3 ${entry}
where c.database = ?1 and c.id = ?2 and (?4 is null or a.run = ?4) and (?5 is null or a.agent = ?5)
  and not ${isGone('?7')}
order by a.seq limit ?6`,
  findArtifact: `
select ${columns} from artifacts a join conversations c on c.number = a.conversation ${entry}
where a.database = ?1 and a.id = ?2 and not ${isGone('?3')}
order by c.created_at, c.number limit ${mostPlaces}`,
} as const
