/** Which files a model takes [Rb53]. */
import { isTextType } from '@witan/protocol/files'
import type { Model } from './model.ts'

/** Whether the model takes files of this type; true if it does not say. */
export function takesType({ takes }: Pick<Model, 'takes'>, mediaType: string): boolean {
  if (takes === undefined || isTextType(mediaType)) return true
  const [kind] = mediaType.split('/')
  return takes.some((type) => type === mediaType || type === `${kind}/*` || type === '*/*')
}

/** What a model takes, in words for an error. */
export function takenText({ takes = [] }: Pick<Model, 'takes'>): string {
  return takes.length === 0 ? 'It takes only text.' : `It takes ${takes.join(', ')}, and text.`
}
