import { importFromProject } from '../project/load.ts';
import { publicReason } from '../project/load-error.ts';
import { importUserModule, resolveUserModule } from '../project/user-module.ts';

/** Computes the embedding of each text. */
export interface Embedder {
  /** Embeddings of stored texts. */
  documents(texts: string[]): Promise<Vector[]>;
  /** Embedding of a query: some models distinguish the two. */
  query(text: string): Promise<Vector>;
}

export type Vector = number[] | Float32Array;

/** True for a list of finite numbers, in a form that an embedder may return. */
export function isVector(value: unknown): value is Vector {
  if (!Array.isArray(value) && !(value instanceof Float32Array)) return false;
  return (value as number[]).every((number) => Number.isFinite(number));
}

export interface EmbedderSpec {
  /** `provider:model`, or `./file.ts:fn` of the project. */
  readonly embed: string;
  readonly dims: number;
  /** The folder of the configuration. */
  readonly root: string;
}

/** Throws an `Error` that tells in one line what to change. */
export async function loadEmbedder({ embed, dims, root }: EmbedderSpec): Promise<Embedder> {
  if (isPath(embed.slice(0, embed.lastIndexOf(':')))) {
    return importFromProject(embed, root, (exported) => embedderOf(exported, embed));
  }
  // The first one: model names may contain a colon.
  const colon = embed.indexOf(':');
  try {
    return await providerEmbedder(embed.slice(0, colon), embed.slice(colon + 1), dims, root);
  } catch (cause) {
    throw new Error(publicReason(cause, root), { cause });
  }
}

function isPath(text: string): boolean {
  return /[\\/]/.test(text) || /\.[cm]?[jt]sx?$/.test(text);
}

async function providerEmbedder(
  provider: string,
  model: string,
  dims: number,
  root: string,
): Promise<Embedder> {
  const known = PROVIDERS[provider.replaceAll('-', '_')];
  if (!known) {
    const names = Object.keys(PROVIDERS).join(', ');
    throw new Error(
      `there is no provider '${provider}', only ${names}; for any other give a function: ./file.ts:fn`,
    );
  }
  if ((await resolveUserModule(root, known.package)) === undefined) {
    throw new Error(`the package ${known.package} is not installed: npm install ${known.package}`);
  }
  const library = await importUserModule<Record<string, new (options: object) => unknown>>(
    root,
    known.package,
  );
  const Embeddings = library[known.name];
  if (!Embeddings) throw new Error(`the package ${known.package} has no ${known.name}`);
  return embedderOf(new Embeddings(known.options(model, dims)), known.name);
}

/** A function of texts, or LangChain's `Embeddings` by shape: the project has its own copy of the library. */
function embedderOf(given: unknown, name: string): Embedder {
  if (typeof given === 'function') {
    const embed = given as (texts: string[]) => Promise<number[][]> | number[][];
    return {
      documents: async (texts) => embed(texts),
      query: async (text) => (await embed([text]))[0] as number[],
    };
  }
  if (isEmbeddings(given)) {
    return {
      documents: (texts) => given.embedDocuments(texts),
      query: (text) => given.embedQuery(text),
    };
  }
  throw new Error(`${name} is neither a function nor LangChain embeddings`);
}

interface Embeddings {
  embedDocuments(texts: string[]): Promise<number[][]>;
  embedQuery(text: string): Promise<number[]>;
}

function isEmbeddings(given: unknown): given is Embeddings {
  const { embedDocuments, embedQuery } = (given ?? {}) as Record<string, unknown>;
  return typeof embedDocuments === 'function' && typeof embedQuery === 'function';
}

/** Embeddings of a provider: package, class, and constructor options. */
interface Provider {
  readonly package: string;
  readonly name: string;
  readonly options: (model: string, dims: number) => Record<string, unknown>;
}

const model = (name: string) => ({ model: name });

/** OpenAI's newer models can return fewer dimensions than they have. */
const openai = (name: string, dimensions: number) =>
  name.startsWith('text-embedding-3') ? { model: name, dimensions } : { model: name };

/** Provider names of `store.index.embed`, before the colon: LangChain's own, with `-` or `_`. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  azure_openai: { package: '@langchain/openai', name: 'AzureOpenAIEmbeddings', options: openai },
  bedrock: { package: '@langchain/aws', name: 'BedrockEmbeddings', options: model },
  cohere: { package: '@langchain/cohere', name: 'CohereEmbeddings', options: model },
  google_genai: {
    package: '@langchain/google-genai',
    name: 'GoogleGenerativeAIEmbeddings',
    options: model,
  },
  google_vertexai: { package: '@langchain/google-vertexai', name: 'VertexAIEmbeddings', options: model },
  mistralai: { package: '@langchain/mistralai', name: 'MistralAIEmbeddings', options: model },
  ollama: { package: '@langchain/ollama', name: 'OllamaEmbeddings', options: model },
  openai: { package: '@langchain/openai', name: 'OpenAIEmbeddings', options: openai },
};
