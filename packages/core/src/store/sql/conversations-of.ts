/** Finds conversations by who may read them. */

/**
 * The numbers of the conversations of the database `?1` that a principal created, and of those in which a person takes part now. The
 * conversations of the local principal have no index by their creator.
 */
export const conversationsOf = (maker: string, person: string, below = '') => `
  select p.conversation as number from participants p
  where p.database = ?1 and p.user = ${person} and p.left_at is null${below && ` and p.conversation < ${below}`}
  union select m.number from conversations m
  where m.database = ?1 and m.created_by = ${maker} and m.created_by <> 'user:local'${below && ` and m.number < ${below}`}
  union select l.number from conversations l
  where ${maker} = 'user:local' and l.database = ?1 and l.created_by = 'user:local'${below && ` and l.number < ${below}`}`
