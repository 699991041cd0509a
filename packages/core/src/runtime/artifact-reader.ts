/** Artifacts as readers get them. To read a conversation is to read its artifacts [T31]. */
import { type Artifact, artifactIdPattern, artifactOf } from '@witan/protocol/entries'
import { shownPlace } from '../event/project.ts'
import { notFound } from '../identity/not-found.ts'
import type { ArtifactEntry } from '../store/artifact-records.ts'
import type { ArtifactFilter, ArtifactReader, Page, PageOptions } from './contract.ts'
import type { Scope } from './scope.ts'
import { conversationRow, reached } from './reach.ts'
import { rowPage } from './page.ts'

/** The artifacts that one principal may read. */
export function artifactReader(scope: Scope): ArtifactReader {
  const { ready } = scope
  return {
    list: (conversation, options = {}) => ready().then(() => list(scope, conversation, options)),
    get: (id) => ready().then(async () => shown(scope, await find(scope, id))),
    read: (id) => ready().then(() => read(scope, id)),
  }
}

interface Found {
  readonly conversation: string
  readonly entry: ArtifactEntry
}

async function list(
  scope: Scope,
  conversation: string,
  options: PageOptions & ArtifactFilter,
): Promise<Page<Artifact>> {
  await conversationRow(scope, conversation)
  const { run = null, agent = null } = options
  const { store } = scope.parts
  return rowPage(options, (page) => store.listArtifacts(scope.database, conversation, { ...page, run, agent }), {
    item: (entry) => shown(scope, { conversation, entry }),
    id: ({ body }) => body.id,
  })
}

/** The artifact where it was made; once that conversation is gone, or if the principal may not read it, in a fork. */
async function find(scope: Scope, id: string): Promise<Found> {
  const places = artifactIdPattern.test(id) ? await scope.parts.store.findArtifact(scope.database, id) : []
  for (const place of places) if ((await reached(scope, place.conversation, 'read')) !== null) return place
  throw notFound('artifact', id)
}

async function read(scope: Scope, id: string) {
  const { parts, database } = scope
  const found = await find(scope, id)
  const content = await parts.store.readContent(database, found.conversation, found.entry.body.digest)
  if (content === null) throw notFound('artifact', id)
  return { artifact: shown(scope, found), bytes: content.bytes }
}

function shown({ database }: Scope, { conversation, entry }: Found): Artifact {
  return artifactOf(entry.body, shownPlace(entry, { database, conversation }))
}
