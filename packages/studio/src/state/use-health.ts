/** What the health page asks the server for. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { UsageDimension, UsageItem } from '@witan/protocol/schemas'
import { firstDay } from './health.ts'
import { witan } from './witan.ts'

const lookAgainMs = 15_000
const mostItems = 1_000
const mostConversations = 200

/** Usage of this many days up to today, at most 1,000 items. */
export function useUsage(by: UsageDimension, days: number) {
  return useQuery({
    queryKey: ['usage', by, days],
    queryFn: async () => {
      const items: UsageItem[] = []
      for await (const item of witan.allUsage({ by, from: firstDay(Date.now(), days), limit: 200 })) {
        items.push(item)
        if (items.length === mostItems) break
      }
      return items
    },
    placeholderData: keepPreviousData,
    refetchInterval: lookAgainMs,
  })
}

/** How many of the latest 200 conversations have a run at work, and one that waits. */
export function useOpenRuns() {
  return useQuery({
    queryKey: ['open runs'],
    queryFn: async () => {
      const { items } = await witan.conversations.list({ limit: mostConversations })
      const countOf = (status: string) => items.filter((one) => one.status === status).length
      return { running: countOf('running'), waiting: countOf('waiting') }
    },
    placeholderData: keepPreviousData,
    refetchInterval: lookAgainMs,
  })
}
