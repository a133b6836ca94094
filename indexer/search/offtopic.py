"""Questions that no source code answers, to see how well wrong answers score: everyday matters, English and Chinese.

They are about what software is rarely about; a repository of recipes or a football game will know some of them.
"""

from __future__ import annotations

QUESTIONS = tuple(
    line.strip()
    for line in """
    how long do I boil an egg
    what to put into a vegetable soup
    how to bake bread without yeast
    why does my cake not rise in the oven
    which cheese goes with red wine
    how do I peel garlic quickly
    how much salt for a kilo of pasta
    how to keep lettuce crisp in the fridge
    what can I cook with leftover rice
    how do I make strawberry jam
    will it rain tomorrow in the mountains
    why is the sky red in the evening
    how cold does it get in Norway in winter
    when do the cherry trees bloom
    what causes thunder after lightning
    how strong is a hurricane wind
    who won the football world cup final
    how many players are in a volleyball team
    what is the offside rule in soccer
    how do I train for a marathon
    how fast can a cheetah run
    why do cats purr
    how often should I walk my dog
    what do hedgehogs eat in autumn
    how long do elephants live
    how to get a goldfish used to a pond
    which birds fly south before winter
    how do bees make honey
    how much water does a cactus need
    when should I plant tomatoes in the garden
    how do I prune an apple tree
    what helps against snails in the salad bed
    how to remove a red wine stain from the carpet
    how do I iron a linen shirt
    how to get rid of moths in the wardrobe
    what to wear to a wedding in summer
    how do I tie a bow tie
    which shoes for hiking in snow
    how do I fix a dripping tap
    how to hang wallpaper in a corner
    which paint for a wooden fence
    how do I sharpen kitchen knives
    how to change a bicycle tyre
    why does my car not start in the morning
    how often does engine oil need replacing
    how long is the drive from Paris to Rome
    which museum in Vienna is worth a visit
    when does the ferry leave for the island
    how do I pack a suitcase for two weeks
    what to see in Kyoto in spring
    how high is the tallest mountain in Africa
    which river flows through Budapest
    when was the great fire of London
    who painted the ceiling of the chapel
    how did the Romans build their roads
    who was the queen of Egypt
    when did the dinosaurs die out
    how far away is the moon
    why do the leaves fall in October
    how old is the oldest tree
    how do I learn to play the violin
    what is a good piece for beginners on the piano
    who sang the opening song of the festival
    how do I dance the tango
    which novel won the literature prize
    how do I calm a crying baby
    what helps against a sore throat
    how many hours should a child sleep
    how do I treat a sunburn
    which vitamins are in an orange
    how do I stop hiccups
    what should I eat before swimming
    how do I knit a scarf
    how to fold a paper crane
    鸡蛋要煮多长时间
    怎么做红烧肉
    明天会下雨吗
    米饭怎么蒸才好吃
    哪里的火锅最好吃
    怎样种番茄
    猫为什么会打呼噜
    感冒了应该吃什么药
    足球比赛谁赢了
    去海边度假要带什么
    怎么洗掉衣服上的酱油
    孩子晚上不睡觉怎么办
    长城有多长
    春节什么时候放假
    怎么学会游泳
    月亮离我们有多远
    苹果和梨哪个更甜
    怎么泡绿茶
    从北京坐火车到上海要多久
    哪种花适合放在卧室
    牙疼怎么缓解
    怎样包饺子
    秋天穿什么衣服
    唐朝的首都在哪里
    大象能活多少年
    怎么修漏水的水龙头
    """.strip().splitlines()
)
