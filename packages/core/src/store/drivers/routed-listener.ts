/** What a routed store tells a listener of all its clusters. */
import type { WitanError } from '@witan/protocol'
import type { StoreListener } from '../listener.ts'
import type { Cluster, Route } from './routed-parts.ts'

/** Listens to each cluster, of which only its own databases count. Returns what ends that. */
export function listenToAll(listener: StoreListener, { all, isAt }: Route): () => void {
  const problems = new Map<Cluster, WitanError | null>()
  let told: WitanError | null | undefined
  const tell = () => {
    const problem = [...problems.values()].find((one) => one !== null) ?? null
    if (problem === told) return
    told = problem
    listener.listening(problem)
  }
  const ends = all.map((cluster) =>
    cluster.store.listen({
      appended: (at) => {
        if (isAt(cluster, at.database)) listener.appended(at)
      },
      due: () => listener.due(),
      gone: (at) => {
        if (isAt(cluster, at.database)) listener.gone(at)
      },
      historyChanged: () => listener.historyChanged(),
      received: (at, text) => {
        if (isAt(cluster, at.database)) listener.received(at, text)
      },
      watched: () => [...listener.watched()].filter(({ database }) => isAt(cluster, database)),
      listening: (problem) => {
        problems.set(cluster, problem)
        tell()
      },
      ignored: (count) => listener.ignored(count),
    }),
  )
  return () => {
    for (const end of ends) end()
  }
}
