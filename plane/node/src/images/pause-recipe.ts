import type { Image, ImageRecipe } from './image.js';
import type { ImageName } from './image-name.js';

/** `registry.k8s.io/pause` and its kin: does nothing until it is told to end. */
export class PauseRecipe implements ImageRecipe {
  matches(image: ImageName): boolean {
    return image.path === 'pause' || image.path.endsWith('/pause');
  }

  async resolve(): Promise<Image> {
    return {
      id: 'program://usr/bin/sleep@pause',
      description: 'sleep infinity',
      mounts: [],
      files: [],
      entrypoint: ['/usr/bin/sleep', 'infinity'],
      arguments: [],
      environment: {},
      workingDirectory: '/',
    };
  }
}
