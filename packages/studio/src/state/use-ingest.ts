/** Ingests of a base while they run: what they have done together, followed by the event stream of each. */
import { useCallback, useEffect, useState } from 'react'
import type { Ingest, KnowledgeDocumentInput } from '@witan/protocol/knowledge'
import { type IngestSum, sumOf } from './ingest-sum.ts'
import { requestsOf } from './knowledge-files.ts'
import { refreshKnowledge } from './knowledge-queries.ts'
import { witan } from './witan.ts'

interface Followed {
  readonly sum: IngestSum | null
  readonly error: unknown
  /** Gives documents to the base; resolves with the ids of the ingests. */
  readonly send: (documents: readonly KnowledgeDocumentInput[]) => Promise<readonly string[]>
}

/** Follows the ingests of these ids, one after the other. A reload goes on with the same ids. */
export function useIngest(base: string, ids: readonly string[]): Followed {
  const [known, setKnown] = useState<ReadonlyMap<string, Ingest>>(new Map())
  const [error, setError] = useState<unknown>(null)
  const joined = ids.join(',')
  useEffect(() => {
    const stop = new AbortController()
    setError(null)
    const follow = async () => {
      for (const id of joined === '' ? [] : joined.split(',')) {
        for await (const ingest of witan.knowledge.ingests.follow(base, id, { signal: stop.signal }))
          setKnown((before) => new Map(before).set(id, ingest))
        if (!stop.signal.aborted) refreshKnowledge()
      }
    }
    follow().catch((reason: unknown) => {
      if (!stop.signal.aborted) setError(reason)
    })
    return () => stop.abort()
  }, [base, joined])
  const send = useCallback(
    async (documents: readonly KnowledgeDocumentInput[]) => {
      const taken: string[] = []
      for (const request of requestsOf(documents)) {
        const ingest = await witan.knowledge.documents.ingest(base, request, { wait: false })
        setKnown((before) => new Map(before).set(ingest.id, ingest))
        taken.push(ingest.id)
      }
      refreshKnowledge()
      return taken
    },
    [base],
  )
  return { sum: sumOf(ids.flatMap((id) => known.get(id) ?? [])), error, send }
}
