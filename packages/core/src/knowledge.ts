/** Knowledge bases of code: as data, with a search of their own, and readers of files. */

export type { KnowledgeBase, KnowledgeBaseInput } from '@witan/protocol/knowledge'
export { defineKnowledge } from './agent/knowledge/parse-base.ts'
export type { KnowledgeSource, SourceHit, SourceSearch } from './tool/kinds/knowledge-elsewhere.ts'
export { defineKnowledgeSource } from './tool/kinds/knowledge-elsewhere.ts'
export type { Block, DocumentReader, ReadDocument } from './knowledge/document.ts'

// models that place texts
export type { Embedded, EmbeddingModel } from './model/embedding.ts'
export type { AiSdkEmbeddingModel } from './model/adapters/ai-sdk-embedding.ts'
export { aiSdkEmbedding } from './model/adapters/ai-sdk-embedding.ts'
