/** Finds conversations by who may read them. */

/** The ids of the conversations that a principal created, and of those in which a person takes part now. */
export const conversationsOf = (maker: string, person: string) => `
  select p.conversation from {s}.participants p where p.database = $1 and p.person = ${person} and p.left_at is null
  union select m.id from {s}.conversations m where m.database = $1 and m.created_by = ${maker}`
