/** The council: no agent may list it, and no model sees it. A function of `main` runs it. */
import { type Agent, defineAgent } from '@witan/core'
import type { ModelFor } from '../model.ts'
import { councilScript } from '../scripts/council.ts'

export const councilAgent = (model: ModelFor): Agent =>
  defineAgent({
    id: 'council',
    name: 'Council',
    description: 'Weighs a decision.',
    parents: [],
    model: model('council', councilScript),
    instructions:
      'Weigh the decision that you are asked about. One line each: what speaks for it, what speaks against it, your advice.',
  })
