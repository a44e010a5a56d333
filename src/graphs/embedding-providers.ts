/** Where the embeddings of a provider are: its package, the class in it, and what the class is made with. */
interface Provider {
  readonly package: string;
  readonly name: string;
  readonly options: (model: string, dims: number) => Record<string, unknown>;
}

const model = (name: string) => ({ model: name });

/** OpenAI's newer models can be asked for fewer numbers than they have. */
const openai = (name: string, dimensions: number) =>
  name.startsWith('text-embedding-3') ? { model: name, dimensions } : { model: name };

/** Names before the colon of `store.index.embed`; LangChain's own, with `-` or `_`. */
export const PROVIDERS: Readonly<Record<string, Provider>> = {
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
