/** Ingests documents in place of older ones, and prunes; it may be killed at any step. Its argument says where, as JSON. */
import './knowledge-doom.ts' // in one piece with the driver that it watches
import { postgresStore, sqliteStore } from '@witan/core'
import { finish, ingest } from './knowledge-story.ts'

const place = JSON.parse(process.argv[2] ?? '') as { file?: string; url: string; schema: string }
const store = place.file === undefined ? postgresStore(place) : sqliteStore({ file: place.file })
await store.open()
await ingest(store)
await finish(store)
await store.close()
